/**
 * Kinds of traffic. Each kind creates an object with one of two methods. `forConnection` returns the requests that a connection
 * repeats. `next` returns one request at a time, and null at the end.
 */
import { Buffer } from 'node:buffer';
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { ACCOUNTS, PASSWORD, PENDING_AMOUNT, pendingOrderId } from '../seed-writes.mjs';
import { createCookie, emailOf } from '../tokens.mjs';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const REQUESTS_PER_CONNECTION = 1000;
/** Number of products on a page. */
const PAGE_SIZE = 50;
/** Number of different users who read the list. */
const CALLERS = 100;
/** Number of accounts that log in, again and again from an address that the service knows. */
const LOGIN_ACCOUNTS = 500;
const BOUNDARY = '----bench-6f0b4c1e2d';
/** Noise of 200 x 200 pixels: about 30 KB. */
const PICTURE = await sharp(randomBytes(200 * 200 * 3), { raw: { width: 200, height: 200, channels: 3 } })
  .jpeg({ quality: 85 })
  .toBuffer();

/** Returns the last id of a random page, like the `last_id` of a client. Ids of a seeded catalog have no gaps. */
const randomPageStart = (products) => PAGE_SIZE * randomInt(products / PAGE_SIZE);

const buildListRequest = (cookie, lastId, headers = {}) => ({
  method: 'GET',
  path: lastId === 0 ? '/api/products' : `/api/products?last_id=${lastId}`,
  headers: { Cookie: cookie, ...headers },
});

const kinds = {
  /** Pages of the list. */
  pages: ({ products }) => {
    const cookies = createCookies();
    return {
      forConnection: () =>
        Array.from({ length: REQUESTS_PER_CONNECTION }, () =>
          buildListRequest(pickRandom(cookies), randomPageStart(products)),
        ),
    };
  },

  /** Pages that the client has cached and that have not changed. */
  'known pages': async ({ products, url }) => {
    const cookies = createCookies();
    const known = [];
    for (let count = 0; count < REQUESTS_PER_CONNECTION; count += 1) {
      const request = buildListRequest(pickRandom(cookies), randomPageStart(products));
      const response = await fetch(url + request.path, { headers: request.headers });
      await response.arrayBuffer();
      known.push({
        ...request,
        headers: { ...request.headers, 'If-None-Match': response.headers.get('etag') },
      });
    }
    return { forConnection: () => shuffle(known) };
  },

  /** Settlements of distinct pending orders. */
  notifications: ({ serverKey, first, last }) => {
    let number = first;
    return {
      next: () => {
        if (number > last) return null;
        const request = buildNotificationRequest(pendingOrderId(number), serverKey);
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
      body: JSON.stringify({ email: emailOf(randomInt(1, LOGIN_ACCOUNTS + 1)), password: PASSWORD }),
    }),
  }),

  /** Orders of three different products by many customers. */
  orders: ({ products }) => {
    const cookies = createCookies(ACCOUNTS);
    return { next: () => buildOrderRequest(pickRandom(cookies), products) };
  },

  /** New products with one image of 30 KB. */
  creates: () => {
    const cookie = createCookie(1, 'ADMIN');
    return { forConnection: () => [buildProductRequest(cookie)] };
  },

  /** One report, requested by an administrator. */
  report: ({ path }) => ({
    forConnection: () => [{ method: 'GET', path, headers: { Cookie: createCookie(1, 'ADMIN') } }],
  }),

  /** Traffic of a busy shop: mostly the list, some orders and their payments, and few logins and new products. */
  mixed: ({ products, serverKey, orders }) => {
    const cookies = createCookies(ACCOUNTS);
    const newProduct = buildProductRequest(createCookie(1, 'ADMIN'));
    const login = kinds.logins();
    return {
      next: () => {
        const percent = randomInt(100);
        if (percent < 80) return buildListRequest(pickRandom(cookies), randomPageStart(products));
        if (percent < 88) return buildOrderRequest(pickRandom(cookies), products);
        // A random order may already be paid. The service also applies and stores another payment of the same order.
        if (percent < 96)
          return buildNotificationRequest(pendingOrderId(randomInt(1, orders + 1)), serverKey);
        return percent < 98 ? newProduct : login.next();
      },
    };
  },
};

/** Creates traffic of a kind. */
export async function makeTraffic({ kind, options }) {
  return kinds[kind](options);
}

function createCookies(count = CALLERS) {
  return Array.from({ length: count }, (_, index) => createCookie(index + 1));
}

function buildOrderRequest(cookie, products) {
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

/** Builds the notification of a settlement as the gateway sends it (contract 4.9). */
export function buildNotificationRequest(orderId, serverKey, rupiah = PENDING_AMOUNT) {
  const [statusCode, amount] = ['200', `${rupiah}.00`];
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

function buildProductRequest(cookie) {
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

function pickRandom(entries) {
  return entries[randomInt(entries.length)];
}

function shuffle(entries) {
  const copy = [...entries];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [copy[last], copy[other]] = [copy[other], copy[last]];
  }
  return copy;
}
