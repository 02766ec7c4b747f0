import { join } from 'node:path';
import { MailerModule } from '@nestjs-modules/mailer';
import { Module } from '@nestjs/common';
import { Env } from '../config/env.js';
import { ShopModule } from '../shop/shop.module.js';
import { MailService } from './mail.service.js';
import { OutboxTransport } from './outbox.transport.js';

/** Timeouts of nodemailer, by the names of its options. */
const SMTP_TIMEOUTS_MS = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
};
/** Limit for a whole delivery, also if SMTP_URL sets longer timeouts. */
const SEND_TIMEOUT_MS = Object.values(SMTP_TIMEOUTS_MS).reduce((sum, ms) => sum + ms);

/** Adds timeouts to the SMTP URL, because nodemailer ignores options next to a URL. */
function withTimeouts(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  for (const [name, ms] of Object.entries(SMTP_TIMEOUTS_MS))
    if (!url.searchParams.has(name)) url.searchParams.set(name, String(ms));
  return url.href;
}

@Module({
  imports: [
    ShopModule,
    MailerModule.forRootAsync({
      imports: [], // required by the type
      inject: [Env],
      useFactory: (env: Env) => ({
        transport:
          env.smtpUrl === undefined
            ? new OutboxTransport(join(env.dataDir, 'outbox'))
            : withTimeouts(env.smtpUrl),
        defaults: { from: env.mailFrom },
        sendTimeout: SEND_TIMEOUT_MS,
      }),
    }),
  ],
  providers: [MailService],
  exports: [MailService],
})
export class MailModule {}
