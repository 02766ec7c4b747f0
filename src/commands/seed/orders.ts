import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hashPassword } from '../../auth/passwords.js';
import type { Principal } from '../../common/current-user.decorator.js';
import { Env } from '../../config/env.js';
import { signatureOf } from '../../gateway/signature.js';
import type { Fulfilment } from '../../orders/fulfilment.js';
import { OrdersService } from '../../orders/orders.service.js';
import { PaymentsService } from '../../payments/payments.service.js';
import { UsersService } from '../../users/users.service.js';
import { sideBySide } from '../side-by-side.js';
import { BAKERY, pick } from './catalog.js';

const PAYMENTS = ['qris', 'gopay', 'bank_transfer', 'credit_card'];
const STATUS_CODES = { settlement: '200', expire: '202', cancel: '200' } as const;
/** How orders end at the gateway, one in three not yet, and what the bakery has done with them. */
const OUTCOMES: readonly (readonly [keyof typeof STATUS_CODES | null, Fulfilment])[] = [
  ['settlement', 'collected'],
  [null, 'new'],
  ['settlement', 'preparing'],
  ['settlement', 'collected'],
  [null, 'new'],
  ['expire', 'new'],
  ['settlement', 'collected'],
  [null, 'new'],
  ['settlement', 'ready'],
  [null, 'new'],
  ['settlement', 'collected'],
  ['cancel', 'refused'],
  [null, 'new'],
  ['settlement', 'new'],
  ['settlement', 'collected'],
  [null, 'new'],
  ['settlement', 'refused'],
];
const CUSTOMERS = 25;

/**
 * Orders of made-up customers, made as a customer makes them and paid by notifications that are signed like the
 * gateway's. Made-up customers get no mail.
 * @param productIds what may be ordered, at least one
 */
export async function seedOrders(
  app: INestApplicationContext,
  count: number,
  productIds: readonly number[],
): Promise<void> {
  const [orders, payments] = [app.get(OrdersService), app.get(PaymentsService)];
  const customers = await seedCustomers(app, Math.min(CUSTOMERS, count));
  await sideBySide([...Array(count).keys()], 'orders', async (n) => {
    const [end, fulfilment] = pick(OUTCOMES, n);
    const lines = Array.from({ length: 1 + (n % 4) }, (_, line) => n * 7 + line * 11);
    const items = [...new Set(lines.map((line) => pick(productIds, line)))];
    const order = await orders.create(
      pick(customers, n),
      { items: items.map((product_id, position) => ({ product_id, quantity: 1 + ((n + position) % 3) })) },
      null,
    );
    // With SQL, as the steps would queue mails; an order that was paid before gets no receipt.
    await app
      .get(DataSource)
      .query('UPDATE orders SET fulfilment = $2, first_paid_at = $3 WHERE order_id = $1', [
        order.orderId,
        fulfilment,
        end === 'settlement' ? new Date() : null,
      ]);
    if (end === null) return;
    const signed = {
      order_id: order.orderId,
      status_code: STATUS_CODES[end],
      gross_amount: `${order.grossAmount}.00`,
    };
    const notification = {
      ...signed,
      signature_key: signatureOf(signed, app.get(Env).payment.serverKey),
      transaction_time: new Date().toISOString(),
      transaction_status: end,
      transaction_id: randomUUID(),
      payment_type: pick(PAYMENTS, n),
      fraud_status: 'accept',
    };
    await payments.receive(notification, JSON.stringify(notification));
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
