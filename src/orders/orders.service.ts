import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { afterPayment, type PaymentEvent } from './order-status.js';
import { OrdersRepository } from './orders.repository.js';

/** A payment event with what else is kept of it on the order. */
export interface Payment extends PaymentEvent {
  readonly paymentType: string;
  readonly fraudStatus: string;
  /** As the gateway wrote it. */
  readonly amount: string;
}

@Injectable()
export class OrdersService {
  constructor(private readonly orders: OrdersRepository) {}

  async exists(orderId: string): Promise<boolean> {
    return (await this.orders.findById(orderId)) !== null;
  }

  /** Locks an order until the transaction ends. @returns false when there is none */
  async lock(tx: EntityManager, orderId: string): Promise<boolean> {
    return (await this.orders.lock(tx, orderId)) !== null;
  }

  /** Applies what became known of a payment to an order that the transaction has locked. */
  async applyPayment(tx: EntityManager, orderId: string, payment: Payment): Promise<void> {
    const order = await this.orders.lock(tx, orderId);
    if (order === null) throw new Error('the order is gone');
    const { paymentType, fraudStatus, amount } = payment;
    await this.orders.update(tx, orderId, {
      ...afterPayment(order, payment, new Date()),
      paymentType,
      fraudStatus,
      transactionAmount: amount,
    });
  }
}
