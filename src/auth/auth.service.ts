import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { UsersService } from '../users/users.service.js';
import type { LoginDto, RegisterDto } from './auth.dto.js';
import { LimitsService } from './limits.service.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { type Session, SessionsService } from './sessions.service.js';

/** Registration and login (contract 4.1, 4.2). */
@Injectable()
export class AuthService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly passwords: PasswordsService,
    private readonly sessions: SessionsService,
    private readonly otps: OtpService,
    private readonly limits: LimitsService,
  ) {}

  /**
   * Creates an account of role USER and signs it in. Its OTP mail is queued in the same transaction.
   * @param address of the caller, as `ClientAddress` gives it
   * @throws QueryFailedError of `users_email_key` (409) when the e-mail is taken
   */
  async register({ email, fullname, password }: RegisterDto, address: string): Promise<Session> {
    const passwordHash = await this.passwords.hash(password);
    const session = await this.dataSource.transaction(async (tx) => {
      const account = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash });
      await this.otps.request(tx, account.id, 'verify_email');
      return this.sessions.openSession(tx, account);
    });
    await this.limits.rememberOwner(session.caller.id, address);
    return session;
  }

  /**
   * Opens a session for the owner of a password.
   * @param address of the caller, as `ClientAddress` gives it
   * @throws Failure 400 when the e-mail is unknown, the password wrong, or too many guesses were wrong
   */
  async login({ email, password }: LoginDto, address: string): Promise<Session> {
    const found = await this.users.findByEmail(email);
    const proved = await this.passwords.prove(found, { account: found?.id ?? email, address }, password);
    return this.dataSource.transaction(async (tx) =>
      this.sessions.openSession(tx, await this.sessions.lockProved(tx, proved)),
    );
  }
}
