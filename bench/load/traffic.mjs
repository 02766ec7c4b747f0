/**
 * Traffic by kind. Each kind creates an object with `forConnection`, which returns the requests that a connection
 * repeats, or with `next`, which returns one request at a time and null at the end.
 */
import { Buffer } from 'node:buffer';
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { ACCOUNTS, PASSWORD, PENDING_AMOUNT, pendingOrderId } from '../seed-writes.mjs';
import { cookieOf, emailOf } from '../tokens.mjs';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const REQUESTS_A_CONNECTION = 1000;
/** Number of products on a page. */
const PAGE_SIZE = 50;
/** Number of callers of one run, each with a token. */
const CALLERS = 100;
const BOUNDARY = '----bench-6f0b4c1e2d';
/** Starts with the bytes of a JPEG. The service checks only these. */
const PICTURE = Buffer.concat([Buffer.from('ffd8ff', 'hex'), randomBytes(30_000)]);

/** Returns a `last_id` like those of clients: the last id of a random page. Ids of a seeded catalog have no gaps. */
const randomPageStart = (products) => PAGE_SIZE * randomInt(products / PAGE_SIZE);

const list = (cookie, lastId, headers = {}) => ({
  method: 'GET',
  path: lastId === 0 ? '/api/products' : `/api/products?last_id=${lastId}`,
  headers: { Cookie: cookie, ...headers },
});

const kinds = {
  /** Pages of the list. */
  pages: ({ products }) => {
    const cookies = callers();
    return {
      forConnection: () =>
        Array.from({ length: REQUESTS_A_CONNECTION }, () => list(oneOf(cookies), randomPageStart(products))),
    };
  },

  /** Unchanged pages that the caller has cached. */
  'known pages': async ({ products, url }) => {
    const cookies = callers();
    const known = [];
    for (let count = 0; count < REQUESTS_A_CONNECTION; count += 1) {
      const request = list(oneOf(cookies), randomPageStart(products));
      const response = await fetch(url + request.path, { headers: request.headers });
      await response.arrayBuffer();
      known.push({
        ...request,
        headers: { ...request.headers, 'If-None-Match': response.headers.get('etag') },
      });
    }
    return { forConnection: () => shuffled(known) };
  },

  /** Settlements of distinct pending orders. */
  notifications: ({ serverKey, first, last }) => {
    let number = first;
    return {
      next: () => {
        if (number > last) return null;
        const request = notification(pendingOrderId(number), serverKey);
        number += 1;
        return request;
      },
    };
  },

  /** Logins with correct passwords of many accounts. */
  logins: () => ({
    next: () => ({
      method: 'POST',
      path: '/api/login',
      headers: JSON_TYPE,
      body: JSON.stringify({ email: emailOf(randomInt(1, ACCOUNTS + 1)), password: PASSWORD }),
    }),
  }),

  /** Orders of three different products by many customers. */
  orders: ({ products }) => {
    const cookies = callers();
    return { next: () => order(oneOf(cookies), products) };
  },

  /** New products with one image of 30 KB. */
  creates: () => {
    const cookie = cookieOf(1, 'ADMIN');
    return { forConnection: () => [creation(cookie)] };
  },

  /** One report for an administrator. */
  report: ({ path }) => ({
    forConnection: () => [{ method: 'GET', path, headers: { Cookie: cookieOf(1, 'ADMIN') } }],
  }),

  /** Traffic of a busy shop: mostly the list, some orders and their payments, and few logins and new products. */
  mixed: ({ products, serverKey, orders }) => {
    const cookies = callers();
    const admin = creation(cookieOf(1, 'ADMIN'));
    const login = kinds.logins();
    return {
      next: () => {
        const dice = randomInt(100);
        if (dice < 80) return list(oneOf(cookies), randomPageStart(products));
        if (dice < 88) return order(oneOf(cookies), products);
        // Another transaction of an order that may be paid already: it is applied and stored.
        if (dice < 96) return notification(pendingOrderId(randomInt(1, orders + 1)), serverKey);
        return dice < 98 ? admin : login.next();
      },
    };
  },
};

/** Creates the traffic of a kind. */
export async function makeTraffic({ kind, options }) {
  return kinds[kind](options);
}

function callers() {
  return Array.from({ length: CALLERS }, (_, index) => cookieOf(index + 1));
}

function order(cookie, products) {
  const ids = new Set();
  while (ids.size < 3) ids.add(randomInt(1, products + 1));
  const items = [...ids].map((product_id) => ({ product_id, quantity: randomInt(1, 4) }));
  return {
    method: 'POST',
    path: '/api/orders',
    headers: { ...JSON_TYPE, Cookie: cookie },
    body: JSON.stringify({ items }),
  };
}

/** Builds a notification like the gateway (contract 4.9). */
function notification(orderId, serverKey) {
  const [statusCode, amount] = ['200', `${PENDING_AMOUNT}.00`];
  const body = {
    transaction_time: '2026-11-20 17:05:12',
    transaction_status: 'settlement',
    transaction_id: randomUUID(),
    status_message: 'midtrans payment notification',
    status_code: statusCode,
    signature_key: createHash('sha512')
      .update(orderId + statusCode + amount + serverKey)
      .digest('hex'),
    payment_type: 'bank_transfer',
    order_id: orderId,
    merchant_id: 'G141532850',
    gross_amount: amount,
    fraud_status: 'accept',
    currency: 'IDR',
  };
  return { method: 'POST', path: '/api/products/payments', headers: JSON_TYPE, body: JSON.stringify(body) };
}

function creation(cookie) {
  const fields = {
    name: 'Kue lapis legit',
    description: 'Eighteen layers, baked one by one.',
    price: '185000',
  };
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="images"; filename="lapis.jpg"\r\nContent-Type: image/jpeg\r\n\r\n`;
  return {
    method: 'POST',
    path: '/api/products',
    headers: { Cookie: cookie, 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: Buffer.concat([
      Buffer.from(parts.join('') + file),
      PICTURE,
      Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
    ]),
  };
}

function oneOf(entries) {
  return entries[randomInt(entries.length)];
}

function shuffled(entries) {
  const copy = [...entries];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [copy[last], copy[other]] = [copy[other], copy[last]];
  }
  return copy;
}
