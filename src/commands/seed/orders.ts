import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PasswordsService } from '../../auth/passwords.service.js';
import type { Principal } from '../../common/current-user.decorator.js';
import { Env } from '../../config/env.js';
import { signatureOf } from '../../gateway/signature.js';
import type { Fulfilment } from '../../orders/fulfilment.js';
import { OrdersService } from '../../orders/orders.service.js';
import { PaymentsService } from '../../payments/payments.service.js';
import { UsersService } from '../../users/users.service.js';
import { sideBySide } from '../side-by-side.js';
import { BAKERY } from './examples.js';
import { Random } from './random.js';

/** How customers pay at the gateway, and how most of it ends. */
const PAYMENTS = ['qris', 'gopay', 'bank_transfer', 'credit_card'] as const;
const ENDS = ['settlement', 'settlement', 'settlement', 'settlement', 'expire', 'cancel'] as const;
const STATUS_CODES = { settlement: '200', expire: '202', cancel: '200' } as const;
/** What the bakery has done with orders that ended so; most paid ones are collected. */
const FULFILMENTS: Readonly<Record<(typeof ENDS)[number] | 'pending', readonly Fulfilment[]>> = {
  settlement: ['collected', 'collected', 'collected', 'collected', 'ready', 'preparing', 'new', 'refused'],
  expire: ['new'],
  cancel: ['refused'],
  pending: ['new'],
};
const CUSTOMERS = 25;

/**
 * Orders of made-up customers, made as a customer makes them and paid by notifications that are signed like the
 * gateway's. A third stays pending. Made-up customers get no mail.
 * @param productIds what may be ordered, at least one
 */
export async function seedOrders(
  app: INestApplicationContext,
  count: number,
  productIds: readonly number[],
  seed: number,
): Promise<void> {
  const orders = app.get(OrdersService, { strict: false });
  const payments = app.get(PaymentsService, { strict: false });
  const dataSource = app.get(DataSource, { strict: false });
  const { payment } = app.get(Env, { strict: false });
  const random = new Random(seed);
  const customers = await seedCustomers(app, Math.min(CUSTOMERS, count));
  const plans = Array.from({ length: count }, () => ({
    customer: customers[random.whole(0, customers.length - 1)],
    items: new Map(
      Array.from({ length: random.whole(1, 4) }, () => [
        productIds[random.whole(0, productIds.length - 1)] ?? 0,
        random.whole(1, 3),
      ]),
    ),
    end: random.next() < 1 / 3 ? null : random.pick(ENDS),
    paymentType: random.pick(PAYMENTS),
    stage: random.next(),
  }));
  await sideBySide(plans, 'orders', async ({ customer, items, end, paymentType, stage }) => {
    if (customer === undefined) return;
    const order = await orders.create(
      customer,
      { items: [...items].map(([product_id, quantity]) => ({ product_id, quantity })) },
      null,
    );
    const stages = FULFILMENTS[end ?? 'pending'];
    // With SQL, as the steps would queue mails; an order that was paid before gets no receipt.
    await dataSource.query('UPDATE orders SET fulfilment = $2, first_paid_at = $3 WHERE order_id = $1', [
      order.orderId,
      stages[Math.floor(stage * stages.length)],
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
      signature_key: signatureOf(signed, payment.serverKey),
      transaction_time: new Date().toISOString(),
      transaction_status: end,
      transaction_id: randomUUID(),
      payment_type: paymentType,
      fraud_status: 'accept',
    };
    await payments.receive(notification, JSON.stringify(notification));
  });
}

/** Accounts with a random password that is not kept. Those of an earlier run are used again. */
async function seedCustomers(app: INestApplicationContext, count: number): Promise<Principal[]> {
  const users = app.get(UsersService, { strict: false });
  const dataSource = app.get(DataSource, { strict: false });
  const passwordHash = await app.get(PasswordsService, { strict: false }).hash(randomUUID());
  const customers: Principal[] = [];
  for (let number = 1; number <= count; number += 1) {
    const email = `customer-${number}@seed.bakery.example`;
    const fullname = BAKERY.customers[number % BAKERY.customers.length] ?? email;
    customers.push(
      (await users.findByEmail(email)) ??
        (await dataSource.transaction((tx) =>
          users.create(tx, { fullname, email, role: 'USER', passwordHash }),
        )),
    );
  }
  return customers;
}
