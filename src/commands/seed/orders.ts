import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hashPassword } from '../../auth/passwords.js';
import type { Customer } from '../../common/access.js';
import { PAY_TIME_HOURS } from '../../orders/order-status.js';
import { OrderPlacementService } from '../../orders/order-placement.service.js';
import { type LockedOrder, OrdersService } from '../../orders/orders.service.js';
import { PaymentHistoryService } from '../../payments/payment-history.service.js';
import { ShopService } from '../../shop/shop.service.js';
import { UsersService } from '../../users/users.service.js';
import { processWithProgress } from '../process-with-progress.js';
import { BAKERY } from './catalog.js';
import { type OrderPlan, planOrders } from './order-plan.js';
import type { Random } from './random.js';

const PAYMENT_TYPES = ['qris', 'gopay', 'bank_transfer', 'credit_card'];
/**
 * Maximum number of customers. A customer may have 50 open orders, and about 1 in 50 seeded orders stays open, so 100,000 orders
 * leave about 20 open orders for each customer.
 */
const MAX_CUSTOMERS = 100;
const MAX_ITEMS = 4;
const MAX_QUANTITY = 3;

/** Places orders of made-up customers and records notifications of their payments. */
@Injectable()
export class SeedOrders {
  constructor(
    private readonly dataSource: DataSource,
    private readonly users: UsersService,
    private readonly shop: ShopService,
    private readonly orders: OrdersService,
    private readonly placement: OrderPlacementService,
    private readonly history: PaymentHistoryService,
  ) {}

  async place(count: number, random: Random, productIds: readonly number[]): Promise<void> {
    const customers = await this.#findOrCreateCustomers(Math.min(MAX_CUSTOMERS, count));
    // Make every random choice first: orders of a batch are placed in any order, so a later choice would depend on timing.
    const plans = planOrders(count, random, await this.shop.get(), new Date()).map((plan) => ({
      ...plan,
      customer: random.pick(customers),
      items: chooseItems(productIds, random),
      paymentType: random.pick(PAYMENT_TYPES),
    }));
    await processWithProgress(plans, 'orders', async ({ customer, items, paymentType, ...plan }) => {
      const { orderId } = await this.placement.create(customer, { items, ...plan.optionalFields });
      const { createdAt, pickupAt, eventsAt, paymentStatuses, fulfilment } = plan;
      const firstPaidAt = paymentStatuses.includes('settlement') ? eventsAt : null;
      await this.dataSource.transaction(async (tx) => {
        // Use SQL, because only the orders module may import the entity. Update before the lock reads the order: without
        // `first_paid_at`, `record` would mail a receipt.
        await tx.query(
          `UPDATE orders SET created_at = $2, pay_until = $2::timestamptz + interval '${PAY_TIME_HOURS} hours',
             pickup_at = $3, first_paid_at = $4
           WHERE order_id = $1`,
          [orderId, createdAt, pickupAt, firstPaidAt],
        );
        await this.#recordPayment(tx, await this.orders.lockOrFail(tx, orderId), paymentType, plan);
        // `storeStep` would mail the customer and reject skipped steps.
        await tx.query('UPDATE orders SET fulfilment = $2 WHERE order_id = $1', [orderId, fulfilment]);
      });
    });
  }

  async #recordPayment(
    tx: EntityManager,
    order: LockedOrder,
    paymentType: string,
    { paymentStatuses, eventsAt }: OrderPlan,
  ): Promise<void> {
    const { orderId, grossAmount } = order;
    const transactionId = randomUUID();
    for (const status of paymentStatuses) {
      await this.history.record(tx, order, {
        source: 'notification',
        status,
        statusCode: status === 'expire' ? '202' : '200', // Midtrans reports an expiry with 202.
        attemptId: orderId,
        transactionId,
        fraudStatus: 'accept',
        grossAmount: `${grossAmount}.00`,
        refundAmount: status === 'partial_refund' ? Math.ceil(grossAmount / 4) : null,
        payload: JSON.stringify({ payment_type: paymentType, transaction_status: status }),
        receivedAt: eventsAt,
      });
    }
  }

  /** Finds or creates the customers' accounts. Nobody knows their random password. */
  async #findOrCreateCustomers(count: number): Promise<Customer[]> {
    const passwordHash = await hashPassword(randomUUID());
    const customers: Customer[] = [];
    for (let number = 1; number <= count; number += 1) {
      const name = BAKERY.customers[number % BAKERY.customers.length] ?? '';
      const email = `customer-${number}@seed.bakery.example`;
      const user = { fullname: name, email, role: 'USER', passwordHash } as const;
      const { id, fullname } =
        (await this.users.findByEmail(email)) ??
        (await this.dataSource.transaction((tx) => this.users.create(tx, user)));
      customers.push({ id, fullname, email });
    }
    return customers;
  }
}

function chooseItems(productIds: readonly number[], random: Random) {
  const ids = Array.from({ length: random.between(1, MAX_ITEMS) }, () => random.pick(productIds));
  return [...new Set(ids)].map((product_id) => ({ product_id, quantity: random.between(1, MAX_QUANTITY) }));
}
