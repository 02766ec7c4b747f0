import { MailerModule } from '@nestjs-modules/mailer';
import { Module } from '@nestjs/common';
import { join } from 'node:path';
import { Env } from '../config/env.js';
import { MailService } from './mail.service.js';
import { OutboxTransport } from './outbox.transport.js';

const SECOND = 1000;

/** Bounds every wait of one delivery. In the URL, because nodemailer reads no option beside it. */
function withTimeouts(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  for (const [name, milliseconds] of Object.entries({
    connectionTimeout: 5 * SECOND,
    greetingTimeout: 5 * SECOND,
    socketTimeout: 10 * SECOND,
    dnsTimeout: 5 * SECOND,
  })) {
    if (!url.searchParams.has(name)) url.searchParams.set(name, String(milliseconds));
  }
  return url.href;
}

@Module({
  imports: [
    MailerModule.forRootAsync({
      imports: [],
      inject: [Env],
      useFactory: (env: Env) => ({
        transport:
          env.smtpUrl === undefined
            ? new OutboxTransport(join(env.dataDir, 'outbox'))
            : withTimeouts(env.smtpUrl),
        defaults: { from: env.mailFrom },
      }),
    }),
  ],
  providers: [MailService],
  exports: [MailService],
})
export class MailModule {}
