import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { type EntityManager, Repository } from 'typeorm';
import type { PaymentPage } from '../gateway/payment-gateway.js';
import { PaymentAttempt } from './order.entity.js';

/** A payment page is good for this long, as the gateway is told. */
const PAGE_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * The right of one request to ask the gateway under an attempt's id. It ends when another request claims the
 * attempt, which may happen 10 seconds later: a process that was stopped for that long finds it so.
 */
export type AttemptClaim = Pick<PaymentAttempt, 'attemptId' | 'claimId'>;

@Injectable()
export class PaymentAttemptsRepository {
  constructor(@InjectRepository(PaymentAttempt) private readonly attempts: Repository<PaymentAttempt>) {}

  /** The latest attempt of an order. */
  latest(tx: EntityManager, orderId: string): Promise<PaymentAttempt | null> {
    return tx.findOne(PaymentAttempt, { where: { orderId }, order: { number: 'DESC' } });
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

  /** A new attempt, claimed by the caller and not yet stored. @param number 1 for an order's first */
  claimed(orderId: string, number: number): PaymentAttempt {
    return this.attempts.create({
      attemptId: number === 1 ? orderId : randomUUID(),
      orderId,
      number,
      claimId: randomUUID(),
      claimedAt: new Date(),
      token: null,
      redirectUrl: null,
      expiresAt: null,
    });
  }

  /** Stores a new attempt of an order that the transaction has locked. */
  async insert(tx: EntityManager, attempt: PaymentAttempt): Promise<AttemptClaim> {
    await tx.insert(PaymentAttempt, attempt);
    return attempt;
  }

  /** Takes an attempt over; an earlier claim ends. */
  async claim(tx: EntityManager, attemptId: string): Promise<AttemptClaim> {
    const claimId = randomUUID();
    await tx.update(PaymentAttempt, { attemptId }, { claimId, claimedAt: new Date() });
    return { attemptId, claimId };
  }

  /** Gives a claim back; does nothing when it has ended. */
  async release({ attemptId, claimId }: AttemptClaim): Promise<void> {
    await this.attempts.update({ attemptId, claimId: claimId ?? '' }, { claimId: null, claimedAt: null });
  }

  /**
   * Keeps the page that the gateway gave.
   * @returns false, and nothing is kept, when the claim has ended: another request has taken the attempt over
   */
  async savePage({ attemptId, claimId }: AttemptClaim, page: PaymentPage): Promise<boolean> {
    const { affected } = await this.attempts.update(
      { attemptId, claimId: claimId ?? '' },
      {
        token: page.token,
        redirectUrl: page.redirectUrl,
        expiresAt: new Date(Date.now() + PAGE_LIFETIME_MS),
        claimId: null,
        claimedAt: null,
      },
    );
    return affected === 1;
  }
}
