import { readFile } from 'node:fs/promises';
import { addDays, toLocalDateAndTime } from '../src/common/calendar.js';
import { computeSignature, type Notification } from './support/notifications.js';
import { orderOf } from './support/orders.js';
import { createProduct } from './support/products.js';
import { useService } from './support/service.js';

/**
 * Order of the documented flow. In a new shop, the administrator is user 1, so the customer is user 2 and the product is
 * product 1, as documented.
 */
const DOCUMENTED_ORDER = 'd9600823-a8aa-4466-93f6-ac413373ab14';

interface Step {
  readonly request: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly status: string;
  /** JSON. Undefined for an empty body. */
  readonly shown: string | undefined;
}

const service = await useService();

/** Reads the requests and responses of contract 1.1. */
async function readFlow(): Promise<Step[]> {
  const [, text = ''] = /\n### 1\.1 (.*?)\n## /s.exec(await readFile('docs/contract.md', 'utf8')) ?? [];
  const steps = text.matchAll(/^> (\w+ \S+)\n((?:[\w-]+: .*\n)*)(?:(\{.*)\n)?< (\d+)\n(\{.*)?/gm);
  return [...steps].map(([, request = '', headers = '', body, status = '', shown]) => {
    const fields = headers.split('\n').filter(Boolean);
    const entries = fields.map((field) => field.split(': ') as [string, string]);
    return { request, headers: Object.fromEntries(entries), body, status, shown };
  });
}

/** Keeps the fields and list items of a response that the document shows. */
function pickShown(actual: unknown, shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null || typeof actual !== 'object' || actual === null)
    return actual;
  const picked = Object.entries(shown).map(([key, value]) => [
    key,
    pickShown(Reflect.get(actual, key), value),
  ]);
  return Array.isArray(shown) ? picked.map(([, value]) => value) : Object.fromEntries(picked);
}

/** Replaces addresses, ids, dates and times, which differ in each run, with fixed texts. */
function replaceVariableParts(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/"https?:[^"]*"/g, '"URL"')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\d(T[\d:.]+Z)?/g, 'DATE')
    .replaceAll(/"\d\d:\d\d"/g, '"TIME"');
  return JSON.parse(text) as unknown;
}

it('the flow of contract 1.1 gets the documented responses, from registration to pickup', async () => {
  const [admin, customer, gateway] = [await service.admin(), service.client(), service.client()];
  await createProduct(admin, [], {
    name: 'Kue lapis legit',
    description: 'Eighteen layers',
    price: '185000',
  });
  const tomorrow = addDays(toLocalDateAndTime(new Date(), 'Asia/Jakarta').date, 1);
  let orderId = '';

  async function fillIn(body: string): Promise<object> {
    const code = body.includes('otp') ? await service.waitForCode('ayu@example.com') : '';
    const filled = body
      .replace(DOCUMENTED_ORDER, orderId)
      .replace(/"otp":"\d+"/, `"otp":"${code}"`)
      .replace(/(?<="pickup_at":")[\d-]+/, tomorrow);
    const fields = JSON.parse(filled) as object;
    if (!('signature_key' in fields)) return fields;
    return { ...fields, signature_key: computeSignature(fields as Notification) };
  }

  const flow = await readFlow();
  expect(flow).toHaveLength(11);
  for (const { request, headers, body, status, shown } of flow) {
    const [method = '', path = ''] = request.replace(DOCUMENTED_ORDER, orderId).split(' ');
    const sender = path.startsWith('/api/admin') ? admin : path.endsWith('/payments') ? gateway : customer;
    const call = sender[method.toLowerCase() as 'get' | 'post' | 'put'](path).set(headers);
    const response = await (body === undefined ? call : call.send(await fillIn(body)));
    if (shown === undefined) expect(response.text).toBe('');
    const document: unknown = JSON.parse(shown ?? '{}');
    const picked = pickShown(response.body, document);
    expect({ request, status: String(response.status), body: replaceVariableParts(picked) }).toEqual({
      request,
      status,
      body: replaceVariableParts(document),
    });
    if (request === 'POST /api/orders') orderId = orderOf(response).order_id;
  }
});
