import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
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

/** A claim older than this belongs to a process that died: a call is bounded well below. */
const CLAIM_S = 10;

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

  async insertClaimed(
    tx: EntityManager,
    attempt: Pick<PaymentAttempt, 'attemptId' | 'orderId' | 'number'>,
  ): Promise<void> {
    await tx.query(
      'INSERT INTO payment_attempts (attempt_id, order_id, number, claimed_at) VALUES ($1, $2, $3, now())',
      [attempt.attemptId, attempt.orderId, attempt.number],
    );
  }

  async claim(tx: EntityManager, attemptId: string): Promise<void> {
    await tx.query('UPDATE payment_attempts SET claimed_at = now() WHERE attempt_id = $1', [attemptId]);
  }

  async release(attemptId: string): Promise<void> {
    await this.attempts.update({ attemptId }, { claimedAt: null });
  }

  /** @returns whether the order is pending, so that the page may be paid on */
  async savePage(
    attemptId: string,
    { token, redirectUrl }: PaymentPage,
    lifetimeSeconds: number,
  ): Promise<boolean> {
    const [rows] = await this.attempts.query<[{ is_pending: boolean }[], number]>(
      `UPDATE payment_attempts
       SET token = $2, redirect_url = $3, claimed_at = NULL, expires_at = now() + make_interval(secs => $4)
       WHERE attempt_id = $1
       RETURNING (SELECT status = 'pending' FROM orders
                  WHERE orders.order_id = payment_attempts.order_id) AS is_pending`,
      [attemptId, token, redirectUrl, lifetimeSeconds],
    );
    return rows[0]?.is_pending === true;
  }
}
