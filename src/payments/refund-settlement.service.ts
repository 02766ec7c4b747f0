import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../common/errors.js';
import { refunds as refundsMetric } from '../common/metrics.js';
import {
  GatewayRejectedError,
  type GatewayTransaction,
  GatewayUnavailableError,
  PaymentGateway,
} from '../gateway/payment-gateway.js';
import { type Order, OrdersService } from '../orders/orders.service.js';
import { PaymentEventsService } from './payment-events.service.js';
import type { Refund, RefundState } from './refund.entity.js';
import { RefundsRepository } from './refunds.repository.js';

/** Makes stored refunds at the gateway and records their results. */
@Injectable()
export class RefundSettlementService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly gateway: PaymentGateway,
    private readonly orders: OrdersService,
    private readonly events: PaymentEventsService,
    private readonly refunds: RefundsRepository,
  ) {}

  /**
   * Calls the gateway for a claimed refund, and records the result.
   * @throws Failure 502 without a result: the refund can be settled again at once
   */
  async settle(refund: Refund): Promise<RefundState> {
    try {
      const transaction = await this.#call(refund);
      return await this.#record(refund, 'succeeded', transaction);
    } catch (error) {
      if (error instanceof GatewayRejectedError) return this.#record(refund, 'rejected');
      refundsMetric.inc({ outcome: 'failed' });
      await this.refunds.release(refund);
      if (error instanceof GatewayUnavailableError) throw failures.gatewayUnavailable(error);
      throw error;
    }
  }

  async recordManual(tx: EntityManager, order: Order, refund: Refund): Promise<void> {
    const { refundId, amount, reason } = refund;
    const payload = JSON.stringify({ refund_key: refundId, amount: Number(amount), reason, manual: true });
    await this.#apply(tx, order, refund, { statusCode: '200', payload });
  }

  async #call({ refundId, orderId, attemptId, amount, reason }: Refund): Promise<GatewayTransaction> {
    const order = await this.orders.findWithCustomer(orderId);
    // The gateway refunds only settled payments. A captured one is returned in full by cancelling it. The status is already
    // `cancel` if the response to an earlier call was lost.
    if (['capture', 'cancel'].includes(order.status) && amount === order.grossAmount) {
      const transaction = await this.gateway.cancelOrExpire(attemptId, 'cancel');
      if (transaction?.transactionStatus === 'cancel') return transaction;
    }
    return this.gateway.refund(attemptId, { refundKey: refundId, amount: Number(amount), reason });
  }

  /** @returns the refund's state, which another request may have recorded first */
  async #record(
    { refundId, orderId }: Refund,
    result: 'succeeded' | 'rejected',
    transaction?: GatewayTransaction,
  ): Promise<RefundState> {
    const earlierResult = await this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const refund = await this.refunds.get(refundId, tx);
      if (refund.state !== 'requested') return refund.state;
      await this.refunds.settle(tx, refundId, result);
      if (transaction !== undefined) await this.#apply(tx, order, refund, transaction);
      return null;
    });
    if (earlierResult === null) refundsMetric.inc({ outcome: result });
    return earlierResult ?? result;
  }

  async #apply(
    tx: EntityManager,
    order: Order,
    refund: Refund,
    { statusCode, payload }: Pick<GatewayTransaction, 'statusCode' | 'payload'>,
  ): Promise<void> {
    const { attemptId, transactionId, gatewaySum } = refund;
    const { grossAmount, paymentType, fraudStatus } = order;
    const manualSum = await this.refunds.sumManual(tx, order.orderId, transactionId);
    const isFull = manualSum + Number(gatewaySum) >= Number(grossAmount);
    await this.events.record(tx, order, {
      source: 'refund',
      status: isFull ? 'refund' : 'partial_refund',
      attemptId,
      transactionId,
      statusCode,
      grossAmount: order.transactionAmount ?? grossAmount,
      refundAmount: gatewaySum,
      paymentType,
      fraudStatus,
      payload,
    });
  }
}
