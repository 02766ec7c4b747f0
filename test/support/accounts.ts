import PostalMime from 'postal-mime';
import type { Client } from './client.js';
import { jobRows } from './jobs.js';
import type { TestService } from './service.js';
import { until } from './wait.js';

export const PASSWORD = 'kue lapis legit';
/** The subject of each mail with a code. */
export const SUBJECTS = {
  verification: 'Your verification code',
  newEmail: 'Verify your new e-mail address',
  reset: 'Your password reset code',
} as const;

/** A registered account and the client that registered it. */
export interface TestAccount {
  readonly client: Client;
  readonly id: number;
  readonly email: string;
}

/** A mail of the outbox. */
export interface OutboxMail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The statuses of answers, in ascending order. */
export function statusesOf(responses: readonly { readonly status: number }[]): number[] {
  return responses.map(({ status }) => status).sort((a, b) => a - b);
}

/** What is stored of an account. */
export interface StoredUser {
  readonly fullname: string;
  readonly email: string;
  readonly password_hash: string;
  readonly email_verified_at: Date | null;
  readonly refresh_token_digest: Buffer | null;
  readonly session_id: string | null;
}

/** What is stored of a one-time password. */
export interface StoredOtp {
  readonly digest: Buffer | null;
  readonly tries: number;
  /** Until it expires. */
  readonly seconds: number | null;
}

export type Purpose = 'verify_email' | 'reset_password';

let accounts = 0;

/** Registers an account with a fresh e-mail and `PASSWORD`. */
export async function newAccount(service: TestService, fullname = 'Ayu Lestari'): Promise<TestAccount> {
  accounts += 1;
  const email = `owner-${accounts}@example.com`;
  const client = service.client();
  const response = await client.register({ email, fullname, password: PASSWORD }).expect(201);
  return { client, id: (response.body as { data: { user: { id: number } } }).data.user.id, email };
}

/** Another session of the same account; signing in ends the refresh token of the earlier one. */
export async function signIn(service: TestService, email: string, password = PASSWORD): Promise<Client> {
  const client = service.client();
  await client.post('/api/login').send({ email, password }).expect(200);
  return client;
}

export async function storedUser({ database }: TestService, id: number): Promise<StoredUser> {
  const { rows } = await database.pool.query<StoredUser>(
    `SELECT fullname, email, password_hash, email_verified_at, refresh_token_digest, session_id
     FROM users WHERE id = $1`,
    [id],
  );
  if (rows[0] === undefined) throw new Error('there is no such account');
  return rows[0];
}

/** @returns null when none was ever asked for */
export async function storedOtp(
  { database }: TestService,
  userId: number,
  purpose: Purpose = 'verify_email',
): Promise<StoredOtp | null> {
  const { rows } = await database.pool.query<StoredOtp>(
    `SELECT digest, tries, extract(epoch FROM expires_at - now())::float AS seconds
     FROM one_time_passwords WHERE user_id = $1 AND purpose = $2`,
    [userId, purpose],
  );
  return rows[0] ?? null;
}

/** Makes an account's codes as old as if this time had passed. */
export async function ageOtps({ database }: TestService, userId: number, seconds: number): Promise<void> {
  await database.pool.query(
    `UPDATE one_time_passwords SET requested_at = requested_at - make_interval(secs => $2),
       expires_at = expires_at - make_interval(secs => $2) WHERE user_id = $1`,
    [userId, seconds],
  );
}

/** All mails to an address so far, oldest first. */
export async function mailsTo(service: TestService, email: string): Promise<OutboxMail[]> {
  const mails = await Promise.all(
    (await service.outbox()).map(async (source) => {
      const { to = [], subject = '', text = '', html = '' } = await PostalMime.parse(source);
      return { to: to.flatMap(({ address }) => address ?? []), subject, text, html };
    }),
  );
  return mails.filter(({ to }) => to.includes(email));
}

/** The nth mail of a subject to an address, waited for. */
export async function mailTo(
  service: TestService,
  email: string,
  subject: string,
  nth = 1,
): Promise<OutboxMail> {
  return until(
    `mail ${nth} "${subject}" to ${email}`,
    async () => (await mailsTo(service, email)).filter((mail) => mail.subject === subject)[nth - 1],
  );
}

/** The code of the nth mail of a subject to an address, waited for. */
export async function codeTo(
  service: TestService,
  email: string,
  subject: string = SUBJECTS.verification,
  nth = 1,
): Promise<string> {
  const { text } = await mailTo(service, email, subject, nth);
  const code = /(?<![\w.-])\d{6}(?![\w-])/.exec(text)?.[0];
  if (code === undefined) throw new Error('there is no code in the mail');
  return code;
}

/** Waits until every mail that was asked for has left: what is not in the outbox then never comes. */
export async function untilMailed({ database }: TestService): Promise<void> {
  await until('an empty queue of mails', async () => {
    const waiting = await jobRows(database.pool, 'forgot-password');
    return waiting.length === 0 && (await jobRows(database.pool, 'send-otp')).length === 0;
  });
}

/** Different codes of 6 digits, none of which is the right one. */
export function wrongCodes(right: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    ((Number(right) + index + 1) % 1_000_000).toString().padStart(6, '0'),
  );
}
