import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Repository } from 'typeorm';
import { Refund, type RefundState } from './refund.entity.js';

@Injectable()
export class RefundsRepository {
  constructor(@InjectRepository(Refund) private readonly refunds: Repository<Refund>) {}

  find(tx: EntityManager, where: FindOptionsWhere<Refund>): Promise<Refund | null> {
    return tx.findOneBy(Refund, where);
  }

  get(refundId: string, tx = this.refunds.manager): Promise<Refund> {
    return tx.findOneByOrFail(Refund, { refundId });
  }

  /** Sum of an order's refunds that were made outside of the gateway, in whole rupiah. */
  async sumManual(tx: EntityManager, orderId: string, transactionId: string): Promise<number> {
    const manual = await tx.findBy(Refund, { orderId, transactionId, isManual: true, state: 'succeeded' });
    return manual.reduce((sum, { amount }) => sum + Number(amount), 0);
  }

  /** Reserves a refund for the request that will call the gateway. The transaction has locked the order. */
  async claim(tx: EntityManager, refund: Refund): Promise<void> {
    refund.claimedAt = new Date();
    await tx.update(Refund, { refundId: refund.refundId }, { claimedAt: refund.claimedAt });
  }

  /**
   * Releases a claim after a call without a result, so that the next request can repeat the call at once. Does not release
   * a newer claim of another request.
   */
  async release({ refundId, claimedAt }: Refund): Promise<void> {
    if (claimedAt !== null) await this.refunds.update({ refundId, claimedAt }, { claimedAt: null });
  }

  /** Stores the result of a refund of a locked order. */
  async settle(tx: EntityManager, refundId: string, state: RefundState): Promise<void> {
    await tx.update(Refund, { refundId }, { state, claimedAt: null });
  }
}
