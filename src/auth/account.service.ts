import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller, Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type Account, type AccountWithPassword, UsersService } from '../users/users.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { type Session, SessionsService } from './sessions.service.js';

const FORGOT_PASSWORD = 'forgot-password';
/** No account's id. Its codes are looked for as well, so that the time of an answer tells as little as its text. */
const NOBODY = 0;

interface ForgotPasswordPayload {
  readonly email: string;
}

/** What the owner of an account does with it (decisions.md, Accounts). */
@Injectable()
export class AccountService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly sessions: SessionsService,
    private readonly otps: OtpService,
    private readonly jobs: JobsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<ForgotPasswordPayload>(FORGOT_PASSWORD, ({ email }) => this.#sendReset(email), {
      lane: 'mail',
    });
  }

  /** Queues a new verification code; one a minute at most, a further call does nothing. */
  async sendOtp(caller: Principal): Promise<void> {
    await this.dataSource.transaction((tx) => this.otps.request(tx, caller.id, 'verify_email'));
  }

  /** @throws Failure 400 when the code is wrong, expired or used up */
  async verifyEmail(caller: Principal, otp: string): Promise<Account> {
    const checked = await this.otps.check(caller.id, 'verify_email', otp);
    return this.dataSource.transaction(async (tx) => {
      // First the account, as a change of its e-mail does, which ends the code that went to the old address.
      const account = await this.users.markEmailVerified(tx, caller.id);
      if (account === null) throw failures.invalidOtp();
      await this.otps.consume(tx, checked);
      return account;
    });
  }

  /**
   * Changes name or e-mail; a new e-mail is unverified and gets a code. Every other session ends.
   * @throws Failure 400 when the password that an e-mail needs is wrong; 409 when the e-mail is taken; 401 when the
   *   caller's session has ended: it gets a new one here, which an old access token alone must not be good for
   */
  async updateProfile(caller: Caller, { fullname, email, password }: UpdateProfileDto): Promise<Session> {
    const account = await this.#own(caller);
    if (email !== undefined || password !== undefined) await this.#prove(account, password);
    else if (isOfEndedSession(caller, account)) throw failures.missingAccessToken();
    return this.dataSource.transaction(async (tx) => {
      const { account: changed, isNewEmail } = await this.users.changeProfile(tx, account, {
        ...(fullname !== undefined && { fullname }),
        ...(email !== undefined && { email }),
      });
      if (isNewEmail) await this.otps.requestForNewEmail(tx, account.id);
      return this.sessions.openLocked(tx, changed);
    });
  }

  /**
   * Changes the password and ends every other session.
   * @throws Failure 400 when the current password is wrong
   */
  async changePassword(
    caller: Principal,
    { currentPassword, password }: ChangePasswordDto,
  ): Promise<Session> {
    const account = await this.#own(caller);
    await this.#prove(account, currentPassword);
    const passwordHash = await this.passwords.hash(password);
    return this.dataSource.transaction(async (tx) =>
      this.sessions.openLocked(tx, await this.users.changePassword(tx, account, passwordHash)),
    );
  }

  /**
   * Queues a reset code if the account exists. Whether it does is looked up by the job, so that neither the answer
   * nor its time tells.
   */
  async forgotPassword(email: string): Promise<void> {
    const payload: ForgotPasswordPayload = { email };
    await this.jobs.enqueue(this.dataSource.manager, FORGOT_PASSWORD, payload, {
      key: `${FORGOT_PASSWORD}:${email.toLowerCase()}`,
    });
  }

  /**
   * Sets a new password with a reset code and ends every session.
   * @throws Failure 400 when the account is unknown or the code wrong, expired or used up, the same for all
   */
  async resetPassword({ email, otp, password }: ResetPasswordDto): Promise<void> {
    const account = await this.users.findByEmail(email);
    const checked = await this.otps.check(account?.id ?? NOBODY, 'reset_password', otp);
    const passwordHash = await this.passwords.hash(password);
    await this.dataSource.transaction(async (tx) => {
      await this.users.resetPassword(tx, checked.userId, passwordHash);
      await this.otps.consume(tx, checked);
    });
  }

  async #sendReset(email: string): Promise<void> {
    const account = await this.users.findByEmail(email);
    if (account === null) return;
    await this.dataSource.transaction((tx) => this.otps.request(tx, account.id, 'reset_password'));
  }

  async #own(caller: Principal): Promise<AccountWithPassword> {
    const account = await this.users.findWithPassword(caller.id);
    if (account === null) throw failures.missingAccessToken();
    return account;
  }

  async #prove(account: AccountWithPassword, password: string | undefined): Promise<void> {
    if (!(await this.passwords.matches(account.passwordHash, password ?? ''))) throw failures.credentials();
  }
}

/** An access token outlives its session by minutes. `iat` has whole seconds, so the second itself counts as after. */
function isOfEndedSession({ issuedAt }: Caller, { sessionsEndedAt }: Account): boolean {
  return sessionsEndedAt !== null && issuedAt < Math.floor(sessionsEndedAt.getTime() / 1000);
}
