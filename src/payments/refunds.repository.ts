import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, Repository } from 'typeorm';
import { Refund, type RefundState } from './refund.entity.js';

@Injectable()
export class RefundsRepository {
  constructor(@InjectRepository(Refund) private readonly refunds: Repository<Refund>) {}

  find(where: FindOptionsWhere<Refund>, tx: EntityManager = this.refunds.manager): Promise<Refund | null> {
    return tx.findOneBy(Refund, where);
  }

  get(refundId: string): Promise<Refund> {
    return this.refunds.findOneByOrFail({ refundId });
  }

  /** Sum of an order's refunds that were made outside of the gateway, in whole rupiah. */
  async sumManual(tx: EntityManager, orderId: string, transactionId: string): Promise<number> {
    const manual = await tx.findBy(Refund, { orderId, transactionId, isManual: true, state: 'succeeded' });
    return manual.reduce((sum, { amount }) => sum + Number(amount), 0);
  }

  /** Starts a call of the gateway. The order has to be locked. */
  async claim(tx: EntityManager, refund: Refund): Promise<void> {
    refund.claimedAt = new Date();
    await tx.update(Refund, { refundId: refund.refundId }, { claimedAt: refund.claimedAt });
  }

  /** Ends a call that had no result, so that the next request can repeat the call at once. */
  async release({ refundId, claimedAt }: Refund): Promise<void> {
    if (claimedAt !== null) await this.refunds.update({ refundId, claimedAt }, { claimedAt: null });
  }

  /** Stores the result of a refund. The order has to be locked. */
  async settle(tx: EntityManager, refundId: string, state: RefundState): Promise<void> {
    await tx.update(Refund, { refundId }, { state, claimedAt: null });
  }
}
