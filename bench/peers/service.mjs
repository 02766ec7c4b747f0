import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNotificationRequest } from '../load/traffic.mjs';
import { PASSWORD } from '../seed-writes.mjs';
import { SERVER_KEY } from '../stage.mjs';
import { emailOf } from '../tokens.mjs';

const EARLIER_ORDERS = 1_000;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const packageFile = join(import.meta.dirname, '../../package.json');

/** Opens this service. An order is paid by a notification of the gateway, and the customer reads it afterwards. */
export async function openService({ stage, client, pickProducts }) {
  const database = await stage.createSalesDatabase(EARLIER_ORDERS);
  const started = await stage.startService(database);
  const send = async (request, status) => {
    const response = await client.send(started.url + request.path, request);
    if (response.status !== status) throw new Error(`${request.path}: ${response.status}`);
    return response;
  };

  const signIn = async (number) => {
    const body = JSON.stringify({ email: emailOf(number), password: PASSWORD });
    const { headers } = await send({ method: 'POST', path: '/api/login', headers: JSON_TYPE, body }, 200);
    return headers['set-cookie'].find((cookie) => cookie.startsWith('accessToken=')).split(';')[0];
  };

  const order = async (cookie) => {
    const headers = { ...JSON_TYPE, Cookie: cookie };
    const items = pickProducts().map((product_id) => ({ product_id, quantity: 1 }));
    const placed = await send(
      { method: 'POST', path: '/api/orders', headers, body: JSON.stringify({ items }) },
      201,
    );
    const { order_id: id, gross_amount: amount } = placed.body.data.order;
    await send(buildNotificationRequest(id, SERVER_KEY, amount), 200);
    const { body } = await send({ path: `/api/orders/${id}`, headers }, 200);
    if (body.data.order.status !== 'settlement') throw new Error(`order ${id} is ${body.data.order.status}`);
  };

  return {
    version: JSON.parse(readFileSync(packageFile, 'utf8')).version,
    started,
    signIn,
    flows: { '3 requests': order },
    countPaid: async () => {
      const [{ paid }] = await stage.query(
        database,
        `SELECT count(*)::integer AS paid FROM orders
         WHERE status = 'settlement' AND (SELECT count(*) FROM order_items WHERE order_id = orders.order_id) = 3`,
      );
      return paid;
    },
  };
}
