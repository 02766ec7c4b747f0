/** People of a morning at the bakery: visitors, customers, the payment gateway and the staff. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { PASSWORD } from '../seed-writes.mjs';
import { createCookie, emailOf } from '../tokens.mjs';
import { buildNotificationRequest } from './traffic.mjs';

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Deadline of a payment to appear in the order, in seconds of the shop. */
const PAYMENT_DEADLINE_S = 600;
const POLL_S = 3;
const STAFF_PAUSE_S = 10;

/**
 * The morning. Durations in its methods are seconds of the shop, which pass `speed` times as fast.
 *
 * @param send sends a request as a kind and checks the status: `send(kind, request, statuses)`
 * @param check records a problem unless the condition holds: `check(condition, problem)`
 */
export class Morning {
  /** Paid orders that the staff has not prepared yet. */
  #paid = [];

  constructor({ send, check, speed, serverKey, products }) {
    Object.assign(this, { send, check, speed, serverKey, products });
  }

  /** Looks around in the catalog. Every fourth visitor becomes the customer with this number (`customer`, otherwise null). */
  async visit(visitor, customer) {
    const address = `10.${visitor >> 16}.${(visitor >> 8) & 255}.${visitor & 255}`;
    const headers = { 'X-Forwarded-For': address };
    const get = (kind, path, more) => this.send(kind, { path, headers: { ...headers, ...more } }, [200]);
    const shop = await get('shop', '/api/shop');
    const first = await get('list', '/api/products');
    const page = first.body.data.products;
    this.check(page.length === 50 && page[0].id === 1, 'the list is not the first page');
    await this.pause(5, 15);
    if (visitor % 2 === 0) {
      await get('list', `/api/products?last_id=${50 * randomInt(1, this.products / 50)}`);
      await this.pause(5, 15);
    }
    if (visitor % 5 === 0) await get('search', `/api/products?q=kue%20${randomInt(1, this.products + 1)}`);
    for (let count = randomInt(1, 4); count > 0; count -= 1) {
      const id = randomInt(1, this.products + 1);
      const { body } = await get('product', `/api/products/${id}`);
      this.check(body.data.products.id === id, 'a page shows another product');
      await this.pause(5, 30);
    }
    // Back to the list, which the browser has cached.
    const known = { 'If-None-Match': first.headers.etag };
    await this.send('list (304)', { path: '/api/products', headers: { ...headers, ...known } }, [304]);
    if (customer !== null) await this.order(customer, headers, shop.body.data.shop.pickup);
  }

  /** Signs in, orders, pays, and follows the order until the payment appears. */
  async order(customer, address, pickup) {
    const headers = { ...address, ...JSON_TYPE, Cookie: await this.signIn(customer, address) };
    await this.pause(10, 40);
    const { date, from } = pickup[1];
    const order = {
      items: this.pickItems(),
      pickup_at: `${date}T${from}:00+07:00`,
      phone: '+62 812-3456-7890',
      note: customer % 3 === 0 ? 'A candle for the cake, please.' : null,
    };
    const request = { method: 'POST', path: '/api/orders', body: JSON.stringify(order) };
    const key = { 'Idempotency-Key': randomUUID() };
    const placed = await this.send('order', { ...request, headers: { ...headers, ...key } }, [201]);
    const { order_id: id, gross_amount: amount, status } = placed.body.data.order;
    this.check(status === 'pending', `a new order is ${status}`);
    await Promise.all([this.pay(id, amount), this.follow(id, headers)]);
    this.#paid.push(id);
    await this.send('own orders', { path: '/api/orders', headers }, [200]);
  }

  /** A fifth of the customers register, a fifth are signed in already, and the others sign in. @returns their cookie */
  async signIn(customer, address) {
    if (customer % 5 === 0) return createCookie(2 + customer);
    const isNew = customer % 5 === 1;
    const account = {
      email: isNew ? `new-customer${customer}@example.com` : emailOf(2 + customer),
      password: PASSWORD,
      ...(isNew && { fullname: `New customer ${customer}`, passwordConfirmation: PASSWORD }),
    };
    const path = isNew ? '/api/register' : '/api/login';
    const request = {
      method: 'POST',
      path,
      headers: { ...address, ...JSON_TYPE },
      body: JSON.stringify(account),
    };
    const { headers } = await this.send(isNew ? 'register' : 'login', request, [isNew ? 201 : 200]);
    return headers['set-cookie'].find((cookie) => cookie.startsWith('accessToken=')).split(';')[0];
  }

  /** Pays at the gateway, which notifies the service. */
  async pay(orderId, amount) {
    await this.pause(15, 60);
    await this.send('notification', buildNotificationRequest(orderId, this.serverKey, amount), [200]);
  }

  /** Polls the order like the storefront until it is paid. */
  async follow(orderId, headers) {
    const deadline = performance.now() + this.realMs(PAYMENT_DEADLINE_S);
    for (let etag = '""'; performance.now() < deadline;) {
      await this.pause(POLL_S, POLL_S);
      const request = { path: `/api/orders/${orderId}`, headers: { ...headers, 'If-None-Match': etag } };
      const { status, body, headers: received } = await this.send('poll', request, [200, 304]);
      if (status === 200 && body.data.order.status === 'settlement') return;
      etag = received.etag ?? etag;
    }
    this.check(false, 'a paid order stayed pending');
  }

  /** Reads the sheets of today and tomorrow and the newest orders, and advances every order, until `isOver` and all are collected. */
  async work(isOver) {
    const headers = { ...JSON_TYPE, Cookie: createCookie(1, 'ADMIN') };
    const read = (kind, path) => this.send(kind, { path, headers }, [200]);
    for (let isLastTurn = false; !isLastTurn;) {
      isLastTurn = isOver();
      const orders = this.#paid.splice(0);
      for (const day of [0, 1]) await read('day sheet', `/api/admin/days/${formatDate(day)}`);
      await read('staff orders', '/api/admin/orders?paid=true');
      for (const id of orders) {
        for (const fulfilment of ['preparing', 'ready', 'collected']) {
          const path = `/api/admin/orders/${id}/fulfilment`;
          const request = { method: 'PUT', path, headers, body: JSON.stringify({ fulfilment }) };
          const { body } = await this.send('advance', request, [200]);
          this.check(body.data.order.fulfilment === fulfilment, `an order did not become ${fulfilment}`);
        }
      }
      await this.pause(STAFF_PAUSE_S, STAFF_PAUSE_S);
    }
  }

  pickItems() {
    const ids = new Set(Array.from({ length: randomInt(1, 5) }, () => randomInt(1, this.products + 1)));
    return [...ids].map((product_id) => ({ product_id, quantity: randomInt(1, 4) }));
  }

  /** Waits between `min` and `max` seconds of the shop. */
  pause(min, max) {
    return delay(this.realMs(min + Math.random() * (max - min)));
  }

  realMs(seconds) {
    return (seconds * 1000) / this.speed;
  }
}

/** Formats the date some days from now in the shop's time zone: `2026-11-24`. Sweden uses the date format of ISO 8601. */
function formatDate(days) {
  const date = new Date(Date.now() + days * 24 * 60 * 60 * 1000);
  return date.toLocaleDateString('sv-SE', { timeZone: 'Asia/Jakarta' });
}
