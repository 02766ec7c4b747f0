import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller, Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { JobsService } from '../jobs/jobs.service.js';
import { type Account, NO_SESSION, UsersService } from '../users/users.service.js';
import type { ChangePasswordDto, ResetPasswordDto, UpdateProfileDto } from './account.dto.js';
import { AuthService, type Session } from './auth.service.js';
import { LimitsService } from './limits.service.js';
import type { OtpPurpose } from './otp.entity.js';
import { OtpService } from './otp.service.js';
import { hashPassword } from './passwords.js';

const FORGOT_PASSWORD = 'forgot-password';

/** `requester` is the address that asked, as `LimitsService.requesterOf` gives it. */
interface ForgotPasswordPayload {
  readonly email: string;
  readonly requester: string;
}

/** What the owner of an account does with it (contract 11). Addresses are what `ClientAddress` gives. */
@Injectable()
export class AccountService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly auth: AuthService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
    private readonly jobs: JobsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<ForgotPasswordPayload>(FORGOT_PASSWORD, (payload) => this.#sendReset(payload), {
      kind: 'mail',
    });
  }

  /** Queues a new verification code; one a minute and ten an hour at most, a further call does nothing. */
  async sendOtp(caller: Principal, address: string): Promise<void> {
    await this.#requestOtp(caller.id, 'verify_email', this.limits.requesterOf(address));
  }

  /** @throws Failure 400 when the code is wrong, expired or used up, or too many were wrong */
  async verifyEmail(caller: Principal, otp: string, address: string): Promise<Account> {
    const checked = await this.otps.prove(caller.id, { account: caller.id, address }, 'verify_email', otp);
    return this.dataSource.transaction(async (tx) => {
      // The account is locked first, as by a change of its e-mail, which ends the codes that went to the old address.
      const account = await this.users.lock(tx, caller.id);
      if (account === null) throw failures.invalidOtp();
      await this.otps.consume(tx, checked);
      return this.users.change(tx, account, { emailVerifiedAt: account.emailVerifiedAt ?? new Date() });
    });
  }

  /**
   * Changes name or e-mail. A change starts a new session and ends the others.
   * @returns the user, and the new session if something changed
   * @throws Failure 400 when the given password is wrong; 409 when the e-mail is taken; 401 when no password is given
   *   and the caller's session is not the live one
   */
  async updateProfile(
    caller: Caller,
    change: UpdateProfileDto,
    address: string,
  ): Promise<{ readonly user: Principal; readonly session: Session | null }> {
    const { password } = change;
    const proved = password === undefined ? null : await this.#prove(caller, password, address);
    return this.dataSource.transaction(async (tx) => {
      const before = await (proved === null
        ? this.auth.lockLive(tx, caller)
        : this.auth.lockProved(tx, proved));
      const { fullname = before.fullname, email = before.email } = change;
      const isNewEmail = email !== before.email;
      if (fullname === before.fullname && !isNewEmail) return { user: before, session: null };
      const emailVerifiedAt = isNewEmail ? null : before.emailVerifiedAt;
      const session = await this.auth.openSession(tx, before, { fullname, email, emailVerifiedAt });
      if (isNewEmail) await this.otps.requestForNewEmail(tx, before.id);
      return { user: session.caller, session };
    });
  }

  /**
   * Changes the password. Ends every other session, and a code to reset the former password.
   * @throws Failure 400 when the current password is wrong
   */
  async changePassword(
    caller: Principal,
    { currentPassword, password }: ChangePasswordDto,
    address: string,
  ): Promise<Session> {
    const proved = await this.#prove(caller, currentPassword, address);
    const passwordHash = await hashPassword(password);
    return this.dataSource.transaction(async (tx) => {
      const before = await this.auth.lockProved(tx, proved);
      await this.otps.endReset(tx, before.id);
      return this.auth.openSession(tx, before, { passwordHash });
    });
  }

  /** Queues a reset code. The job looks up whether the account exists: neither the answer nor its time tells. */
  async forgotPassword(email: string, address: string): Promise<void> {
    const payload: ForgotPasswordPayload = { email, requester: this.limits.requesterOf(address) };
    const key = `${FORGOT_PASSWORD}:${email.toLowerCase()}`;
    await this.jobs.enqueue(this.dataSource.manager, FORGOT_PASSWORD, payload, { key });
  }

  /**
   * Sets a new password with a reset code and ends every session.
   * @throws Failure 400, the same for an unknown account and for a code that `OtpService.prove` refuses
   */
  async resetPassword({ email, otp, password }: ResetPasswordDto, address: string): Promise<void> {
    const account = await this.users.findByEmail(email);
    const guesser = { account: account?.id ?? email, address };
    const checked = await this.otps.prove(account?.id, guesser, 'reset_password', otp);
    const passwordHash = await hashPassword(password);
    await this.dataSource.transaction(async (tx) => {
      const before = await this.users.lock(tx, checked.userId);
      if (before === null) throw failures.invalidOtp();
      await this.users.change(tx, before, { passwordHash, ...NO_SESSION });
      await this.otps.consume(tx, checked);
    });
  }

  async #sendReset({ email, requester }: ForgotPasswordPayload): Promise<void> {
    const account = await this.users.findByEmail(email);
    if (account !== null) await this.#requestOtp(account.id, 'reset_password', requester);
  }

  async #requestOtp(userId: number, purpose: OtpPurpose, requester: string): Promise<void> {
    await this.limits.mail(userId, requester, () =>
      this.dataSource.transaction((tx) => this.otps.request(tx, { userId, purpose })),
    );
  }

  async #prove(caller: Principal, password: string, address: string): Promise<Account> {
    const account = await this.users.findById(caller.id);
    if (account === null) throw failures.missingAccessToken();
    return this.auth.prove(account, { account: account.id, address }, password);
  }
}
