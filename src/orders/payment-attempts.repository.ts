import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { PaymentAttempt } from './payment-attempt.entity.js';

/** The latest attempt of an order, judged by the database's clock. */
export interface LatestAttempt {
  readonly attemptId: string;
  readonly number: number;
  /** Its payment page, alive or not; null while it has none. */
  readonly page: PaymentPage | null;
  readonly isAlive: boolean;
  /** A request is asking the gateway right now. */
  readonly isClaimed: boolean;
}

/**
 * The right of one request to ask the gateway under an attempt's id. It is void once another request has claimed the
 * attempt, which may happen 10 seconds later: a process that was stopped for that long finds it so.
 */
export interface AttemptClaim {
  readonly attemptId: string;
  /** As the database writes it: a Date would lose the microseconds by which claims differ. */
  readonly claimedAt: string;
}

/** A claim older than this belongs to a process that died: a call is bounded well below. */
const CLAIM_S = 10;

/** Named, so that each connection parses and plans it once. */
const SAVE_PAGE = {
  name: 'payment-attempt-page',
  text: `
    UPDATE payment_attempts
    SET token = $3, redirect_url = $4, claimed_at = NULL, expires_at = now() + make_interval(secs => $5)
    WHERE attempt_id = $1 AND claimed_at = $2::timestamptz
    RETURNING (SELECT status = 'pending' FROM orders
               WHERE orders.order_id = payment_attempts.order_id) AS is_pending`,
};

@Injectable()
export class PaymentAttemptsRepository {
  constructor(@InjectRepository(PaymentAttempt) private readonly attempts: Repository<PaymentAttempt>) {}

  async latest(tx: EntityManager, orderId: string): Promise<LatestAttempt | null> {
    const rows = await tx.query<
      {
        attempt_id: string;
        number: number;
        token: string | null;
        redirect_url: string | null;
        is_alive: boolean;
        is_claimed: boolean;
      }[]
    >(
      `SELECT attempt_id, number, token, redirect_url, coalesce(expires_at > now(), false) AS is_alive,
         coalesce(claimed_at > now() - make_interval(secs => $2), false) AS is_claimed
       FROM payment_attempts WHERE order_id = $1 ORDER BY number DESC LIMIT 1`,
      [orderId, CLAIM_S],
    );
    const [row] = rows;
    if (row === undefined) return null;
    const { token, redirect_url: redirectUrl } = row;
    return {
      attemptId: row.attempt_id,
      number: row.number,
      page: token === null || redirectUrl === null ? null : { token, redirectUrl },
      isAlive: row.is_alive,
      isClaimed: row.is_claimed,
    };
  }

  /** Ids under which the gateway may know an order's payment, newest first. */
  async idsOf(orderId: string): Promise<string[]> {
    const attempts = await this.attempts.find({
      where: { orderId },
      order: { number: 'DESC' },
      select: { attemptId: true },
    });
    return attempts.map(({ attemptId }) => attemptId);
  }

  /** For an order that the transaction has locked. Its row is written as well: see `PaymentLedgerRepository`. */
  async insertClaimed(
    tx: EntityManager,
    { attemptId, orderId, number }: Pick<PaymentAttempt, 'attemptId' | 'orderId' | 'number'>,
  ): Promise<AttemptClaim> {
    const rows = await tx.query<{ claimed_at: string }[]>(
      `WITH touched AS (UPDATE orders SET updated_at = updated_at WHERE order_id = $2)
       INSERT INTO payment_attempts (attempt_id, order_id, number, claimed_at)
       VALUES ($1, $2, $3, clock_timestamp()) RETURNING claimed_at::text`,
      [attemptId, orderId, number],
    );
    return { attemptId, claimedAt: rows[0]?.claimed_at ?? '' };
  }

  /** Takes an attempt over; any claim of before is void. */
  async claim(tx: EntityManager, attemptId: string): Promise<AttemptClaim> {
    const [rows] = await tx.query<[{ claimed_at: string }[], number]>(
      `UPDATE payment_attempts SET claimed_at = clock_timestamp() WHERE attempt_id = $1
       RETURNING claimed_at::text`,
      [attemptId],
    );
    return { attemptId, claimedAt: rows[0]?.claimed_at ?? '' };
  }

  /** Gives a claim back; does nothing when it is void. */
  async release({ attemptId, claimedAt }: AttemptClaim): Promise<void> {
    await this.attempts.query(
      'UPDATE payment_attempts SET claimed_at = NULL WHERE attempt_id = $1 AND claimed_at = $2::timestamptz',
      [attemptId, claimedAt],
    );
  }

  /**
   * Keeps the page that the gateway gave.
   * @returns whether the order is pending, so that the page may be paid on; null when the claim is void: nothing is
   *   kept then, for the attempt belongs to the request that took it over
   */
  async savePage(
    { attemptId, claimedAt }: AttemptClaim,
    { token, redirectUrl }: PaymentPage,
    lifetimeSeconds: number,
  ): Promise<boolean | null> {
    const rows = await queryNamed<{ is_pending: boolean }>(this.attempts.manager, SAVE_PAGE, [
      attemptId,
      claimedAt,
      token,
      redirectUrl,
      lifetimeSeconds,
    ]);
    return rows[0]?.is_pending ?? null;
  }
}
