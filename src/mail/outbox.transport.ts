import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callbackify } from 'node:util';
import { Logger } from '@nestjs/common';
import type { Transport } from 'nodemailer';
import type MailMessage from 'nodemailer/lib/mailer/mail-message.js';

/** Writes each mail to a folder as an `.eml` file (RFC 5322), for a service without SMTP_URL. */
export class OutboxTransport implements Transport<unknown> {
  readonly name = 'outbox';
  readonly version = '1';
  readonly #logger = new Logger('Outbox');

  constructor(private readonly folder: string) {}

  /** Renames the file when it is complete, so that no reader sees a partial mail. */
  readonly send = callbackify(async ({ message }: MailMessage<unknown>) => {
    const content = await message.build();
    await mkdir(this.folder, { recursive: true });
    const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`;
    const partial = join(this.folder, `.${name}.partial`);
    await writeFile(partial, content, { mode: 0o600 });
    await rename(partial, join(this.folder, name));
    this.#logger.log(`mail written to ${join(this.folder, name)}`);
    return { messageId: message.messageId(), envelope: message.getEnvelope() };
  });
}
