import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hashPassword } from '../../auth/passwords.js';
import type { Principal } from '../../common/current-user.decorator.js';
import { OrderPlacementService } from '../../orders/order-placement.service.js';
import { type Order, OrdersService } from '../../orders/orders.service.js';
import { PaymentEventsService } from '../../payments/payment-events.service.js';
import { ShopService } from '../../shop/shop.service.js';
import { UsersService } from '../../users/users.service.js';
import { processInBatches } from '../output.js';
import { BAKERY, pick } from './catalog.js';
import { type OrderPlan, planOrder } from './order-plan.js';

const PAYMENT_TYPES = ['qris', 'gopay', 'bank_transfer', 'credit_card'];
const CUSTOMERS = 25;

/**
 * Places orders of made-up customers and records notifications of their payments, through the services of the application.
 * `first_paid_at` is set before the payment is recorded, so that no receipt is mailed.
 */
export async function seedOrders(
  app: INestApplicationContext,
  { orders: count, seed }: { readonly orders: number; readonly seed: number },
  productIds: readonly number[],
): Promise<void> {
  const [placement, dataSource] = [app.get(OrderPlacementService), app.get(DataSource)];
  const shop = await app.get(ShopService).get();
  const now = new Date();
  const customers = await seedCustomers(app, Math.min(CUSTOMERS, count));
  await processInBatches([...Array(count).keys()], 'orders', async (n) => {
    const plan = planOrder(n, seed, shop, now);
    const indexes = Array.from({ length: 1 + (n % 4) }, (_, position) => n * 7 + position * 11);
    const ids = [...new Set(indexes.map((index) => pick(productIds, index)))];
    const order = await placement.create(pick(customers, n), {
      items: ids.map((product_id, position) => ({ product_id, quantity: 1 + ((n + position) % 3) })),
      ...plan.optionalFields,
    });
    await dataSource.transaction(async (tx) => {
      // SQL, because the services would enqueue mails and reject times in the past.
      const { fulfilment, createdAt, pickupAt, eventsAt } = plan;
      const firstPaidAt = plan.paymentStatuses.includes('settlement') ? eventsAt : null;
      await tx.query(
        'UPDATE orders SET fulfilment = $2, created_at = $3, pickup_at = $4, first_paid_at = $5 WHERE order_id = $1',
        [order.orderId, fulfilment, createdAt, pickupAt, firstPaidAt],
      );
      await recordPayment(app, tx, order, n, plan);
    });
  });
}

async function recordPayment(
  app: INestApplicationContext,
  tx: EntityManager,
  { orderId, grossAmount }: Order,
  n: number,
  { paymentStatuses, eventsAt }: OrderPlan,
): Promise<void> {
  const transactionId = randomUUID();
  for (const status of paymentStatuses) {
    const order = await app.get(OrdersService).lockOrFail(tx, orderId);
    const event = {
      status,
      statusCode: status === 'expire' ? '202' : '200', // Midtrans reports an expiry with 202.
      transactionId,
      paymentType: pick(PAYMENT_TYPES, n),
      fraudStatus: 'accept',
      grossAmount: `${grossAmount}.00`,
      refundAmount: status === 'partial_refund' ? Math.ceil(grossAmount / 4) : null,
    };
    const received = { ...event, source: 'notification', attemptId: orderId } as const; // also the id of the first attempt
    await app.get(PaymentEventsService).record(tx, order, { ...received, payload: JSON.stringify(event) });
  }
  const parameters = [orderId, eventsAt];
  await tx.query('UPDATE payment_notifications SET received_at = $2 WHERE order_id = $1', parameters);
  await tx.query(
    'UPDATE orders SET completed_at = $2 WHERE order_id = $1 AND completed_at IS NOT NULL',
    parameters,
  );
}

/** Finds or creates the customers' accounts. Nobody knows their random password. */
async function seedCustomers(app: INestApplicationContext, count: number): Promise<Principal[]> {
  const users = app.get(UsersService);
  const passwordHash = await hashPassword(randomUUID());
  const customers: Principal[] = [];
  for (let number = 1; number <= count; number += 1) {
    const email = `customer-${number}@seed.bakery.example`;
    const account = { fullname: pick(BAKERY.customers, number), email, role: 'USER', passwordHash } as const;
    customers.push(
      (await users.findByEmail(email)) ??
        (await app.get(DataSource).transaction((tx) => users.create(tx, account))),
    );
  }
  return customers;
}
