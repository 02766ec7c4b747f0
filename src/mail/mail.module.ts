import { MailerModule } from '@nestjs-modules/mailer';
import { Module } from '@nestjs/common';
import { parseConnectionUrl } from 'nodemailer/lib/shared/index.js';
import { join } from 'node:path';
import { Env } from '../config/env.js';
import { MailService } from './mail.service.js';
import { OutboxTransport } from './outbox.transport.js';

/** Milliseconds. Parameters of SMTP_URL, such as `?socketTimeout=5000`, take precedence. */
const TIMEOUTS = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 10000, dnsTimeout: 5000 };

@Module({
  imports: [
    MailerModule.forRootAsync({
      imports: [],
      inject: [Env],
      useFactory: (env: Env) => ({
        transport:
          env.smtpUrl === undefined
            ? new OutboxTransport(join(env.dataDir, 'outbox'))
            : { ...TIMEOUTS, ...parseConnectionUrl(env.smtpUrl) },
        defaults: { from: env.mailFrom },
      }),
    }),
  ],
  providers: [MailService],
  exports: [MailService],
})
export class MailModule {}
