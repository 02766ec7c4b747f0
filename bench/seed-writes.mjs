import { hash } from '@node-rs/argon2';
import { createHash } from 'node:crypto';
import { withClient } from '../dist/src/database/with-client.js';
import { emailOf, sessionIdOf } from './tokens.mjs';

/** Enough that no customer reaches the limit of 50 open orders. */
export const ACCOUNTS = 5000;
export const PASSWORD = 'kue lapis legit';
/** Parameters of the service (src/auth/passwords.ts). */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Account that owns the pending orders and places none: counting its open orders would take unusually long. */
const PENDING_OWNER = ACCOUNTS + 1;

/**
 * Inserts accounts with the ids 1 to ACCOUNTS and PENDING_OWNER, the same password and one session each. Replaces the
 * customer of `seed`.
 */
export async function seedAccounts(databaseUrl) {
  const passwordHash = await hash(PASSWORD, ARGON2ID);
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO users (id, fullname, email, password_hash) OVERRIDING SYSTEM VALUE
       SELECT n, 'Customer ' || n, email, $2 FROM unnest($1::text[]) WITH ORDINALITY AS account (email, n)
       ON CONFLICT (id) DO UPDATE
         SET fullname = excluded.fullname, email = excluded.email, password_hash = excluded.password_hash`,
      [Array.from({ length: PENDING_OWNER }, (_, index) => emailOf(index + 1)), passwordHash],
    );
    await client.query(`SELECT setval(pg_get_serial_sequence('users', 'id'), (SELECT max(id) FROM users))`);
    // `createCookie(1, 'ADMIN')` signs in as this administrator.
    await client.query(`UPDATE users SET role = 'ADMIN' WHERE id = 1`);
    await client.query(
      `INSERT INTO sessions (id, user_id) SELECT id, n FROM unnest($1::uuid[]) WITH ORDINALITY AS session (id, n)
       ON CONFLICT (id) DO NOTHING`,
      [Array.from({ length: PENDING_OWNER }, (_, index) => sessionIdOf(index + 1))],
    );
  });
}

/** Distributes the orders of `seed` among the accounts, and postpones their payment checks until after the run. */
export async function spreadOrders(databaseUrl) {
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `UPDATE orders SET user_id = 1 + gross_amount % $1, next_check_at = now() + interval '1 day'`,
      [ACCOUNTS],
    );
  });
}

/**
 * Inserts pending orders for one notification each, with the ids of `pendingOrderId`. `first_paid_at` is set, because
 * the service sends a receipt only for the first payment, and no receipts should be sent during the measurement.
 */
export async function seedPendingOrders(databaseUrl, count) {
  await withClient(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO orders (order_id, user_id, gross_amount, next_check_at, first_paid_at)
       SELECT md5('pending order ' || n)::uuid, $2, $3, now() + interval '1 day', now()
       FROM generate_series(1, $1::integer) AS n`,
      [count, PENDING_OWNER, PENDING_AMOUNT],
    );
    await client.query(
      `INSERT INTO payment_attempts (attempt_id, order_id, number, token, redirect_url, expires_at)
       SELECT id, id, 1, id, 'http://localhost:3000/pay/' || id, now() + interval '1 day'
       FROM (SELECT md5('pending order ' || n)::uuid AS id FROM generate_series(1, $1::integer) AS n) AS pending`,
      [count],
    );
  });
}

/** Total of a pending order in rupiah. */
export const PENDING_AMOUNT = 185_000;

/** Returns the id of the n-th pending order. The first order has the number 1. */
export function pendingOrderId(n) {
  const digest = createHash('md5').update(`pending order ${n}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
