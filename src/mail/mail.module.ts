import { join } from 'node:path';
import { MailerModule } from '@nestjs-modules/mailer';
import { Module } from '@nestjs/common';
import { Env } from '../config/env.js';
import { ShopModule } from '../shop/shop.module.js';
import { MailService, SMTP_TIMEOUTS_MS } from './mail.service.js';
import { OutboxTransport } from './outbox.transport.js';

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
