import { Logger } from '@nestjs/common';
import type { Transport } from 'nodemailer';
import type MailMessage from 'nodemailer/lib/mailer/mail-message.js';
import { randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What nodemailer is told of a mail that was written. */
export interface OutboxInfo {
  readonly messageId: string;
  readonly envelope: { from: string | false; to: string[] };
}

/** Delivers mail into a folder, one `.eml` file (RFC 5322) each, for a service without SMTP_URL. */
export class OutboxTransport implements Transport<OutboxInfo> {
  readonly name = 'outbox';
  readonly version = '1';
  readonly #logger = new Logger('Outbox');

  constructor(private readonly directory: string) {}

  send(mail: MailMessage<OutboxInfo>, done: (error: Error | null, info: OutboxInfo) => void): void {
    const info: OutboxInfo = { messageId: mail.message.messageId(), envelope: mail.message.getEnvelope() };
    this.#write(mail).then(
      () => {
        done(null, info);
      },
      (failure: unknown) => {
        done(failure instanceof Error ? failure : new Error('the mail could not be written'), info);
      },
    );
  }

  /** The file appears under its name only when it is whole. */
  async #write({ message }: MailMessage<OutboxInfo>): Promise<void> {
    const content = await message.build();
    await mkdir(this.directory, { recursive: true });
    const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomBytes(4).toString('hex')}.eml`;
    const partial = join(this.directory, `.${name}.partial`);
    await writeFile(partial, content, { mode: 0o600 });
    await rename(partial, join(this.directory, name));
    this.#logger.log(`mail written to ${join(this.directory, name)}`);
  }
}
