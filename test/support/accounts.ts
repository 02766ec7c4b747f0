import type { Test } from 'supertest';
import type { components } from '../../client/schema.js';
import { Client } from './client.js';
import type { TestDatabase } from './databases.js';
import { readJobs } from './jobs.js';
import { findCode, type Mail, parseMail } from './mail.js';
import { until } from './wait.js';

export const PASSWORD = 'kue lapis legit';
export const NEW_PASSWORD = 'nastar dan kastengel';
/** Subjects of the mails with a code. */
export const SUBJECTS = {
  verification: 'Your verification code',
  newEmail: 'Verify your new email address',
  reset: 'Your password reset code',
} as const;

/** Registered account with the client that registered it. */
export type TestAccount = Readonly<Awaited<ReturnType<typeof registerAccount>>>;

type PasswordChange = components['schemas']['ChangePasswordDto'];

interface ServiceUrl {
  readonly url: string;
}

interface StoredUser {
  readonly fullname: string;
  readonly email: string;
  readonly email_verified_at: Date | null;
  readonly language: string | null;
}

interface StoredSession {
  readonly id: string;
  /** Null after the refresh token was dropped. */
  readonly refresh_token_digest: Buffer | null;
  /** Seconds until the session expires. */
  readonly seconds: number;
}

interface StoredOtp {
  /** Null before the code is mailed and after it was used or invalidated. */
  readonly digest: Buffer | null;
  /** Seconds until the code expires; null before it is mailed. */
  readonly seconds: number | null;
}

let emailCount = 0;

/** Returns an address that no other account of the test file has. */
export function createEmail(): string {
  emailCount += 1;
  return `Owner-${emailCount}@example.com`;
}

/** Registers an account with a new email and `PASSWORD`. */
export async function registerAccount({ url }: ServiceUrl, fullname = 'Ayu Lestari') {
  const email = createEmail();
  const client = new Client(url);
  const response = await client.register({ email, fullname, password: PASSWORD }).expect(201);
  return { client, id: (response.body as { data: { user: { id: number } } }).data.user.id, email };
}

/** Logs in with a new client. By default, an account has one refresh token at a time, so the earlier one is dropped. */
export async function signIn({ url }: ServiceUrl, email: string, password = PASSWORD) {
  const client = new Client(url);
  await client.post('/api/login').send({ email, password }).expect(200);
  return client;
}

/** Sends POST /api/login with a new client. */
export function requestLogin({ url }: ServiceUrl, email: string, password = PASSWORD): Test {
  return new Client(url).post('/api/login').send({ email, password });
}

/** Sends POST /api/password/forgot. */
export function requestResetCode({ url }: ServiceUrl, email: string): Test {
  return new Client(url).post('/api/password/forgot').send({ email });
}

/** Sends POST /api/password/reset. */
export function requestPasswordReset(
  { url }: ServiceUrl,
  { email, otp }: { readonly email: string; readonly otp: string },
  password = NEW_PASSWORD,
  passwordConfirmation = password,
): Test {
  return new Client(url).post('/api/password/reset').send({ email, otp, password, passwordConfirmation });
}

/** Sends PUT /api/users/password, with defaults for missing fields. */
export function requestPasswordChange(client: Client, fields: Partial<PasswordChange> = {}): Test {
  const { password = NEW_PASSWORD } = fields;
  const defaults = { currentPassword: PASSWORD, password, passwordConfirmation: password };
  return client.put('/api/users/password').send({ ...defaults, ...fields });
}

export function listWrongCodes(right: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    String((Number(right) + index + 1) % 1_000_000).padStart(6, '0'),
  );
}

/** Creates the methods with which tests read the accounts, codes and mails of a service. */
export function createAccountMethods(database: TestDatabase, readOutbox: () => Promise<string[]>) {
  return {
    async readUser(id: number): Promise<StoredUser> {
      const rows = await database.query<StoredUser>('SELECT * FROM users WHERE id = $1', [id]);
      if (rows[0] === undefined) throw new Error('there is no such account');
      return rows[0];
    },

    /** Marks an address as verified. */
    async verifyEmail(email: string): Promise<void> {
      await database.query('UPDATE users SET email_verified_at = now() WHERE email = $1', [email]);
    },

    /** Returns the sessions of an account that have not been ended, oldest first. */
    readSessions(userId: number): Promise<StoredSession[]> {
      return database.query<StoredSession>(
        `SELECT id, refresh_token_digest, extract(epoch FROM expires_at - now())::float AS seconds
         FROM sessions WHERE user_id = $1 ORDER BY created_at`,
        [userId],
      );
    },

    /** Returns the stored row of an account's code; undefined if the account has none. */
    async readOtp(userId: number, purpose: 'verify_email' | 'reset_password' = 'verify_email') {
      const rows = await database.query<StoredOtp>(
        `SELECT digest, extract(epoch FROM expires_at - now())::float AS seconds
         FROM one_time_passwords WHERE user_id = $1 AND purpose = $2`,
        [userId, purpose],
      );
      return rows[0];
    },

    /** Lets time pass for the codes of an account. A negative number of seconds extends their validity. */
    async ageOtps(userId: number, seconds: number): Promise<void> {
      await database.query(
        'UPDATE one_time_passwords SET expires_at = expires_at - make_interval(secs => $2) WHERE user_id = $1',
        [userId, seconds],
      );
    },

    /** Returns all mails to an address, oldest first. */
    async readMails(email: string): Promise<Mail[]> {
      // Only mails that mention the address: tests poll, and parsing all mails takes long.
      const sources = (await readOutbox()).filter((source) => source.includes(email));
      const mails = await Promise.all(sources.map(parseMail));
      return mails.filter(({ to }) => to.includes(email));
    },

    waitForMail(email: string, subject: string, nth = 1): Promise<Mail> {
      return until(
        `mail ${nth} "${subject}" to ${email}`,
        async () => (await this.readMails(email)).filter((mail) => mail.subject === subject)[nth - 1],
      );
    },

    /** Waits for the nth mail with a subject to an address and returns its code. */
    async waitForCode(email: string, subject: string = SUBJECTS.verification, nth = 1): Promise<string> {
      const { text } = await this.waitForMail(email, subject, nth);
      return findCode(text);
    },

    /** Waits until all jobs that send mails about accounts are done. */
    async waitUntilMailed(): Promise<void> {
      await until('the end of all jobs that send mails about accounts', async () => {
        // In this order, because a job of each of the first two tasks may enqueue a job of the next one.
        for (const task of ['forgot-password', 'start-password-reset', 'send-otp', 'send-notice'])
          if ((await readJobs(database.pool, task)).length > 0) return false;
        return true;
      });
    },
  };
}
