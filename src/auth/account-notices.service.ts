import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService } from '../mail/mail.service.js';
import { type User, UsersService } from '../users/users.service.js';

const SEND_NOTICE = 'send-notice';

interface NoticePayload {
  readonly userId: number;
  readonly notice: 'email_changed' | 'password_changed';
  /** Address before the change. */
  readonly to: string;
}

/** Mails a notice about a change of email or password, so that owners notice changes that they did not make. */
@Injectable()
export class AccountNoticesService implements OnModuleInit {
  constructor(
    private readonly users: UsersService,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
  ) {}

  onModuleInit(): void {
    const send = (payload: NoticePayload) => this.#send(payload);
    this.jobs.handle<NoticePayload>(SEND_NOTICE, send, { kind: 'mail' });
  }

  /** @param before user before the change. An address that is not verified may belong to a stranger, and gets no mail */
  async enqueue(tx: EntityManager, before: User, notice: NoticePayload['notice']): Promise<void> {
    if (before.emailVerifiedAt === null) return;
    const payload: NoticePayload = { userId: before.id, notice, to: before.email };
    // While the mail server is unavailable, a waiting notice is replaced by the next one to the same address.
    await this.jobs.enqueue(tx, SEND_NOTICE, payload, { key: `${SEND_NOTICE}:${notice}:${before.email}` });
  }

  async #send({ userId, notice, to }: NoticePayload): Promise<void> {
    const texts = await this.mail.textsFor(await this.users.findOrFail(userId));
    const { subject, ...context } = texts.notices[notice];
    // Without a name, because whoever made the change may have changed the name too.
    const recipient = { email: to, fullname: '', emailVerifiedAt: null };
    await this.mail.send({ to: recipient, texts, subject, template: 'account', context });
  }
}
