import { Injectable } from '@nestjs/common';
import { failures } from '../common/errors/failures.js';
import type { Client } from '../common/http/client.decorator.js';
import type { Language } from '../common/languages.js';
import type { User } from '../users/user.entity.js';
import { UsersService } from '../users/users.service.js';
import { AccountMailsService } from './account-mails.service.js';
import type { LoginDto, RegisterDto } from './account.dto.js';
import { ClientTurns, MIN_SECRET_TASK_MS } from './client-turns.js';
import { LimitsService } from './limits.service.js';
import { hashPassword, verifyPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';
import type { IssuedTokens } from './tokens.js';

/** Registers users, and signs them in and out (contract 4.1, 4.2, 11.4). */
@Injectable()
export class AuthService {
  constructor(
    private readonly users: UsersService,
    private readonly turns: ClientTurns,
    private readonly mails: AccountMailsService,
    private readonly limits: LimitsService,
    private readonly sessions: SessionsService,
  ) {}

  async register(
    { email, fullname, password }: RegisterDto,
    language: Language | null,
    client: Client,
  ): Promise<IssuedTokens> {
    const passwordHash = await this.turns.runPasswordTask(client, () => hashPassword(password));
    return this.turns.runTransaction(client, async (tx) => {
      const user = await this.users.create(tx, { email, fullname, role: 'USER', passwordHash, language });
      await this.limits.rememberKnownAddress({ user, email, client }, tx);
      await this.mails.requestVerification(tx, user, client);
      return this.sessions.open(tx, user);
    });
  }

  async login(credentials: LoginDto, client: Client): Promise<IssuedTokens> {
    const findUser = () => this.users.findByEmail(credentials.email);
    const { id, email, passwordHash } = await this.authenticate(findUser, credentials, client);
    const session = await this.turns.runTransaction(client, async (tx) => {
      const current = await this.users.lock(tx, id);
      const isUnchanged = current?.email === email && current.passwordHash === passwordHash;
      return isUnchanged ? this.sessions.open(tx, current) : null;
    });
    // If email or password were changed during the check, check again: the credentials may be wrong now.
    return session ?? this.login(credentials, client);
  }

  /** Ends the session of a correctly signed access token, expired or not. Ignores any other text. */
  async logout(accessToken: string, client: Client): Promise<void> {
    const authUser = this.sessions.identifyUser(accessToken);
    if (authUser === null) return;
    // Without the signal, so that a disconnect does not remove the logout from the queue.
    const { disconnectSignal: _, ...withoutSignal } = client;
    await this.turns.runTransaction(withoutSignal, (tx) => this.sessions.end(tx, authUser));
  }

  /**
   * Finds a user and checks the password in the client's turn. Returns the user if the password is right. An unknown user and too
   * many wrong guesses take the same time as a wrong password, so that the time does not reveal which users exist.
   */
  async authenticate(
    findUser: () => Promise<User | null>,
    { email, password }: LoginDto,
    client: Client,
  ): Promise<User> {
    const findAndCheck = async () => {
      const user = await findUser();
      const check = () => verifyPassword(password, user?.passwordHash);
      return (await this.limits.checkPassword({ user, email, client }, check)) ? user : null;
    };
    const user = await this.turns.runPasswordTask(client, findAndCheck, MIN_SECRET_TASK_MS);
    if (user === null) throw failures.wrongCredentials();
    return user;
  }
}
