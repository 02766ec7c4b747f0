import { Injectable, Logger } from '@nestjs/common';
import Handlebars from 'handlebars';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { mails } from '../common/metrics.js';
import { Env } from '../config/env.js';
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

/** Renders and sends mail. Callers are jobs, which repeat what fails. */
@Injectable()
export class MailService {
  readonly #logger = new Logger('Outbox');
  readonly #templates = new Map(
    TEMPLATES.map((name) => [name, { html: template(`${name}.html`), text: template(`${name}.txt`, true) }]),
  );
  readonly #deliver: (mail: SendMailOptions) => Promise<void>;

  constructor(private readonly env: Env) {
    const { smtpUrl, dataDir } = env;
    if (smtpUrl === undefined) {
      const writer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
      this.#deliver = async (mail) => {
        const { message } = await writer.sendMail(mail);
        await this.#keep(join(dataDir, 'outbox'), message);
      };
    } else {
      const server = createTransport(withTimeouts(smtpUrl));
      this.#deliver = async (mail) => {
        await server.sendMail(mail);
      };
    }
  }

  /**
   * @throws PermanentJobError when the mail server says that there is no such recipient
   * @throws Error for any other failure; the mail may have left nevertheless
   */
  async send({ to, subject, template, context }: Mail): Promise<void> {
    const parts = this.#templates.get(template);
    if (parts === undefined) throw new Error(`there is no mail template ${template}`);
    try {
      await this.#deliver({
        from: this.env.mailFrom,
        // An object, not a string: an address is never parsed as a list of them.
        to: { name: '', address: to },
        subject,
        html: parts.html(context),
        text: parts.text(context),
      });
    } catch (error) {
      throw deliveryFailure(error);
    }
    mails.inc({ outcome: 'sent' });
  }

  /** Writes a mail into a folder, as a file (RFC 5322) that appears under its name only when it is whole. */
  async #keep(outbox: string, message: Buffer | Readable): Promise<void> {
    await mkdir(outbox, { recursive: true });
    const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`;
    const partial = join(outbox, `.${name}.partial`);
    await writeFile(partial, message, { mode: 0o600 });
    await rename(partial, join(outbox, name));
    this.#logger.log(`mail written to ${join(outbox, name)}`);
  }
}

/** Bounds every wait of one delivery. In the URL, because nodemailer reads no option beside it. */
function withTimeouts(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  const timeouts = { connectionTimeout: 5, greetingTimeout: 5, socketTimeout: 10, dnsTimeout: 5 };
  for (const [name, seconds] of Object.entries(timeouts))
    if (!url.searchParams.has(name)) url.searchParams.set(name, String(seconds * 1000));
  return url.href;
}

/** Compiled once. Values are escaped for HTML; a text part shows them as they are. */
function template(name: string, plainText = false): Handlebars.TemplateDelegate {
  return handlebars.compile(sourceOf(name), { noEscape: plainText, strict: true });
}

function sourceOf(name: string): string {
  return readFileSync(join(import.meta.dirname, 'templates', `${name}.hbs`), 'utf8');
}
