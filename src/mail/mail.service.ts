import { MailerService } from '@nestjs-modules/mailer';
import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mails } from '../common/metrics.js';
import { deliveryFailure } from './delivery-failure.js';

const TEMPLATES = ['one-time-password', 'order-receipt', 'order-ready'] as const;
export type MailTemplate = (typeof TEMPLATES)[number];

type Fields = Readonly<Record<string, string | number>>;

/** A mail to one address; `templates/<template>.html.hbs` and `.txt.hbs` make its two parts. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly template: MailTemplate;
  readonly context: Readonly<Record<string, string | number | readonly Fields[]>>;
}

/** With the frame that all HTML parts share. */
const handlebars = Handlebars.create();
handlebars.registerPartial('layout', sourceOf('layout.html'));

/** Above what the transport's own limits add up to, and below a job's deadline. */
const SEND_DEADLINE_MS = 25_000;

/** Renders and sends mail. Callers are jobs, which repeat what fails. */
@Injectable()
export class MailService {
  readonly #templates = new Map(
    TEMPLATES.map((name) => [name, { html: template(`${name}.html`), text: template(`${name}.txt`, true) }]),
  );

  constructor(private readonly mailer: MailerService) {}

  /**
   * @throws PermanentJobError when the mail server says that there is no such recipient
   * @throws Error for any other failure; the mail may have left nevertheless
   */
  async send({ to, subject, template, context }: Mail): Promise<void> {
    const parts = this.#templates.get(template);
    if (parts === undefined) throw new Error(`there is no mail template ${template}`);
    try {
      await this.mailer.sendMail({
        // An object, not a string: an address is never parsed as a list of them.
        to: { name: '', address: to },
        subject,
        html: parts.html(context),
        text: parts.text(context),
        timeout: SEND_DEADLINE_MS,
      });
    } catch (error) {
      throw deliveryFailure(error);
    }
    mails.inc({ outcome: 'sent' });
  }
}

/** Compiled once. Values are escaped for HTML; a text part shows them as they are. */
function template(name: string, plainText = false): Handlebars.TemplateDelegate {
  return handlebars.compile(sourceOf(name), { noEscape: plainText, strict: true });
}

function sourceOf(name: string): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.hbs`), 'utf8');
}
