import { MailerService } from '@nestjs-modules/mailer';
import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mails } from '../common/metrics.js';
import { toJobError } from './job-error.js';

interface Recipient {
  readonly email: string;
  readonly fullname: string;
  readonly emailVerifiedAt: Date | null;
}

/** Mail to one account. The template gets the context and the line `greeting`. */
interface Mail {
  readonly to: Recipient;
  readonly subject: string;
  readonly template: MailTemplate;
  readonly context: Readonly<Record<string, string | number | readonly object[]>>;
}

const handlebars = Handlebars.create();
handlebars.registerPartial('layout', readTemplate('layout.html'));

const TEMPLATES = {
  'one-time-password': compileParts('one-time-password'),
  'order-receipt': compileParts('order-receipt'),
  'order-ready': compileParts('order-ready'),
  'order-refused': compileParts('order-refused'),
};
export type MailTemplate = keyof typeof TEMPLATES;

/** The sum of the timeouts in `mail.module.ts`, and less than the deadline of a job. */
const SEND_DEADLINE_MS = 25_000;

@Injectable()
export class MailService {
  constructor(private readonly mailer: MailerService) {}

  /** @throws PermanentJobError for an unknown recipient, otherwise Error; the mail may have been delivered nevertheless */
  async send({ to, subject, template, context }: Mail): Promise<void> {
    const values = { ...context, greeting: greet(to) };
    try {
      await this.mailer.sendMail({
        // As an object, because nodemailer would parse a string as a list of addresses.
        to: { name: '', address: to.email },
        subject,
        html: TEMPLATES[template].html(values),
        text: TEMPLATES[template].text(values),
        timeout: SEND_DEADLINE_MS,
      });
    } catch (error) {
      throw toJobError(error);
    }
    mails.inc({ outcome: 'sent' });
  }
}

/** Omits the name until the address is verified, because anybody can register a stranger's address with any name. */
function greet({ fullname, emailVerifiedAt }: Recipient): string {
  // Not a comparison with null: an account that was loaded without this column must not count as verified.
  return emailVerifiedAt instanceof Date ? `Hello ${fullname},` : 'Hello,';
}

/** Compiles the two parts of a mail. Values are escaped in the HTML part only. */
function compileParts(name: string) {
  return {
    html: handlebars.compile(readTemplate(`${name}.html`), { strict: true }),
    text: handlebars.compile(readTemplate(`${name}.txt`), { strict: true, noEscape: true }),
  };
}

function readTemplate(name: string): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.hbs`), 'utf8');
}
