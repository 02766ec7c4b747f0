import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { failures } from '../common/errors.js';
import { orderSteps } from '../common/metrics.js';
import { type Fulfilment, mayBecome } from './fulfilment.js';
import { OrderMailsService } from './order-mails.service.js';
import type { OrderWithCustomer } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';
import { OrdersService } from './orders.service.js';

/** What the bakery does with orders, step by step. */
@Injectable()
export class FulfilmentService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: OrdersRepository,
    private readonly orders: OrdersService,
    private readonly mails: OrderMailsService,
  ) {}

  /**
   * Takes an order to its next step, and mails the customer when it is ready. Of two requests for one step the second
   * finds it done.
   * @returns the order with its customer
   * @throws Failure 404; 409 when the order cannot take this step
   */
  async advance(orderId: string, next: Fulfilment): Promise<OrderWithCustomer> {
    await this.dataSource.transaction(async (tx) => {
      const order = await this.repository.lock(tx, orderId);
      // The lock also takes the ids of payment attempts.
      if (order?.orderId !== orderId) throw failures.notFound();
      if (!mayBecome(order, next)) throw failures.fulfilmentStep(next);
      await this.repository.update(tx, orderId, { fulfilment: next });
      if (next === 'ready') await this.mails.enqueue(tx, orderId, 'order-ready');
    });
    orderSteps.inc({ fulfilment: next });
    return this.orders.findWithCustomer(orderId);
  }
}
