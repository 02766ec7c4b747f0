import { MailerService } from '@nestjs-modules/mailer';
import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mails } from '../common/metrics.js';
import { deliveryFailure } from './delivery-failure.js';

/** A mail to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly template: MailTemplate;
  readonly context: Readonly<Record<string, string | number | readonly object[]>>;
}

/** With the frame that all HTML parts share. */
const handlebars = Handlebars.create();
handlebars.registerPartial('layout', sourceOf('layout.html'));

const TEMPLATES = {
  'one-time-password': partsOf('one-time-password'),
  'order-receipt': partsOf('order-receipt'),
  'order-ready': partsOf('order-ready'),
};
export type MailTemplate = keyof typeof TEMPLATES;

/** Above what the transport's own limits add up to, and below a job's deadline. */
const SEND_DEADLINE_MS = 25_000;

/** Renders and sends mail. Callers are jobs, which repeat what fails. */
@Injectable()
export class MailService {
  constructor(private readonly mailer: MailerService) {}

  /**
   * @throws PermanentJobError when the mail server says that there is no such recipient
   * @throws Error for any other failure; the mail may have left nevertheless
   */
  async send({ to, subject, template, context }: Mail): Promise<void> {
    try {
      await this.mailer.sendMail({
        // An object, not a string: an address is never parsed as a list of them.
        to: { name: '', address: to },
        subject,
        html: TEMPLATES[template].html(context),
        text: TEMPLATES[template].text(context),
        timeout: SEND_DEADLINE_MS,
      });
    } catch (error) {
      throw deliveryFailure(error);
    }
    mails.inc({ outcome: 'sent' });
  }
}

/** The two parts of a mail. Values are escaped for HTML; the text shows them as they are. */
function partsOf(name: string) {
  return {
    html: handlebars.compile(sourceOf(`${name}.html`), { strict: true }),
    text: handlebars.compile(sourceOf(`${name}.txt`), { strict: true, noEscape: true }),
  };
}

function sourceOf(name: string): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.hbs`), 'utf8');
}
