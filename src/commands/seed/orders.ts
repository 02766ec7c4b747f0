import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashPassword } from '../../auth/passwords.js';
import type { Principal } from '../../common/current-user.decorator.js';
import type { Fulfilment } from '../../orders/fulfilment.js';
import type { OrderStatus } from '../../orders/order-status.js';
import { OrdersService } from '../../orders/orders.service.js';
import { PaymentEventsService } from '../../payments/payment-events.service.js';
import { UsersService } from '../../users/users.service.js';
import { sideBySide } from '../side-by-side.js';
import { BAKERY, pick } from './catalog.js';

const PAYMENTS = ['qris', 'gopay', 'bank_transfer', 'credit_card'];
/** How orders end at the gateway, one in three not yet, and what the bakery has done with them. */
const OUTCOMES: readonly (readonly [OrderStatus, Fulfilment])[] = [
  ['settlement', 'collected'],
  ['pending', 'new'],
  ['settlement', 'preparing'],
  ['settlement', 'collected'],
  ['pending', 'new'],
  ['expire', 'new'],
  ['settlement', 'collected'],
  ['pending', 'new'],
  ['settlement', 'ready'],
  ['pending', 'new'],
  ['settlement', 'collected'],
  ['cancel', 'refused'],
  ['pending', 'new'],
  ['settlement', 'new'],
  ['settlement', 'collected'],
  ['pending', 'new'],
  ['settlement', 'refused'],
];
const CUSTOMERS = 25;

/**
 * Orders of made-up customers, made as a customer makes them, and ended as notifications of the gateway end them.
 * Made-up customers get no mail.
 * @param productIds what may be ordered, at least one
 */
export async function seedOrders(
  app: INestApplicationContext,
  count: number,
  productIds: readonly number[],
): Promise<void> {
  const [orders, events, dataSource] = [
    app.get(OrdersService),
    app.get(PaymentEventsService),
    app.get(DataSource),
  ];
  const customers = await seedCustomers(app, Math.min(CUSTOMERS, count));
  await sideBySide([...Array(count).keys()], 'orders', async (n) => {
    const [end, fulfilment] = pick(OUTCOMES, n);
    const lines = Array.from({ length: 1 + (n % 4) }, (_, line) => n * 7 + line * 11);
    const items = [...new Set(lines.map((line) => pick(productIds, line)))];
    const order = await orders.create(pick(customers, n), {
      items: items.map((product_id, position) => ({ product_id, quantity: 1 + ((n + position) % 3) })),
    });
    // With SQL, as the steps would queue mails; an order that was paid before gets no receipt.
    await dataSource.query('UPDATE orders SET fulfilment = $2, first_paid_at = $3 WHERE order_id = $1', [
      order.orderId,
      fulfilment,
      end === 'settlement' ? new Date() : null,
    ]);
    if (end === 'pending') return;
    const news = {
      status: end,
      statusCode: end === 'expire' ? '202' : '200',
      transactionId: randomUUID(),
      paymentType: pick(PAYMENTS, n),
      fraudStatus: 'accept',
      grossAmount: `${order.grossAmount}.00`,
    };
    const event = {
      ...news,
      source: 'notification',
      attemptId: order.orderId,
      payload: JSON.stringify(news),
    } as const;
    await dataSource.transaction((tx) => events.record(tx, event));
  });
}

/** Accounts with a random password that is not kept. Those of an earlier run are used again. */
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
