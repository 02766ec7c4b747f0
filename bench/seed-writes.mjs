import { hash } from '@node-rs/argon2';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { emailOf } from './tokens.mjs';

export const ACCOUNTS = 500;
export const PASSWORD = 'kue lapis legit';
/** The service's own, at its least (docs/security.md). */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Accounts 1 to 500, whose ids are their numbers, all with one password. */
export async function seedAccounts(databaseUrl) {
  const passwordHash = await hash(PASSWORD, ARGON2ID);
  await inDatabase(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO users (id, fullname, email, password_hash) OVERRIDING SYSTEM VALUE
       SELECT n, 'Customer ' || n, email, $2 FROM unnest($1::text[]) WITH ORDINALITY AS account (email, n)
       ON CONFLICT (id) DO UPDATE
         SET fullname = excluded.fullname, email = excluded.email, password_hash = excluded.password_hash`,
      [Array.from({ length: ACCOUNTS }, (_, index) => emailOf(index + 1)), passwordHash],
    );
    await client.query(`SELECT setval(pg_get_serial_sequence('users', 'id'), (SELECT max(id) FROM users))`);
  });
}

/** Gives the accounts the orders of `seed.mjs`. The gateway is not asked about them during a run. */
export async function spreadOrders(databaseUrl) {
  await inDatabase(databaseUrl, async (client) => {
    await client.query(
      `UPDATE orders SET user_id = 1 + gross_amount % $1, next_check_at = now() + interval '1 day'`,
      [ACCOUNTS],
    );
  });
}

/**
 * Pending orders, each for one notification; `pendingOrderId` says their ids. They were paid once before, so that no
 * receipt is mailed: the mails would be measured as well.
 */
export async function seedPendingOrders(databaseUrl, count) {
  await inDatabase(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO orders (order_id, user_id, gross_amount, next_check_at, first_paid_at)
       SELECT md5('pending order ' || n)::uuid, 1 + n % $2, $3, now() + interval '1 day', now()
       FROM generate_series(1, $1::integer) AS n`,
      [count, ACCOUNTS, PENDING_AMOUNT],
    );
    await client.query(
      `INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
       SELECT id, id, 1, id, 'http://localhost:3000/pay/' || id, now() + interval '1 day'
       FROM (SELECT md5('pending order ' || n)::uuid AS id FROM generate_series(1, $1::integer) AS n) AS pending`,
      [count],
    );
  });
}

/** Rupiah. */
export const PENDING_AMOUNT = 185_000;

/** Id of the n-th pending order, counted from 1. */
export function pendingOrderId(n) {
  const digest = createHash('md5').update(`pending order ${n}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function inDatabase(databaseUrl, work) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
