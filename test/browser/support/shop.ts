import { randomUUID } from 'node:crypto';
import type { APIRequestContext, APIResponse, Page } from 'playwright-core';
import type { components } from '../../../client/schema.js';
import { toLocalDate } from '../../../src/common/calendar.js';
import { DEFAULT_SHOP, type ShopSettings } from '../../support/shop-settings.js';
import { until } from '../../support/wait.js';
import { LIKE_BROWSER } from './requests.js';
import { admin, serviceUrl } from './settings.js';

type Schemas = components['schemas'];
type OrderOptions = Omit<Schemas['CreateOrderDto'], 'items'> & {
  /** Number of pieces by product id. The default is one croissant. */
  readonly quantities?: Readonly<Record<number, number>>;
};

/** Id of "Butter croissant" for Rp 24.000, which `run.mjs` creates in each shop. */
export const CROISSANT = 2;

/** Places an order through the API, as the customer who is signed in on this page. */
export async function placeOrder(
  page: Page,
  { quantities = { [CROISSANT]: 1 }, ...details }: OrderOptions = {},
): Promise<Schemas['OrderView']> {
  const items = Object.entries(quantities).map(([id, quantity]) => ({ product_id: Number(id), quantity }));
  const options = { ...LIKE_BROWSER, data: { items, ...details } };
  const response = await page.request.post(`${serviceUrl}/api/orders`, options);
  return (await readData<{ order: Schemas['OrderView'] }>(response)).order;
}

/** Places an order and pays for it with QRIS. Returns the order's id. */
export async function placePaidOrder(page: Page, options?: OrderOptions): Promise<string> {
  const { order_id, redirect_url } = await placeOrder(page, options);
  await performPaymentAction(page, redirect_url, 'qris');
  return until('the order is paid', async () => {
    const response = await page.request.get(`${serviceUrl}/api/orders/${order_id}`, LIKE_BROWSER);
    const { order } = await readData<{ order: Schemas['OrderView'] }>(response);
    return order.status === 'settlement' && order_id;
  });
}

/** Places an order and pays for it by QRIS and by bank transfer. Returns the order's id. */
export async function placeOrderPaidTwice(page: Page, options?: OrderOptions): Promise<string> {
  const { order_id, redirect_url } = await placeOrder(page, options);
  const transfer = await performPaymentAction(page, redirect_url, 'bank-transfer');
  await performPaymentAction(page, redirect_url, 'qris');
  await performPaymentAction(page, redirect_url, `transactions/${transfer}/settle`);
  return order_id;
}

/**
 * Performs an action of a payment page: `qris`, or `transactions/<id>/settle`.
 * @returns the id of the latest transaction
 */
async function performPaymentAction(page: Page, paymentUrl: string | null, action: string): Promise<string> {
  const headers = { Accept: 'application/json' };
  const response = await page.request.post(`${paymentUrl}/${action}`, { ...LIKE_BROWSER, headers });
  const { transactions } = await readData<{ transactions: { transaction_id: string }[] }>(response);
  const latest = transactions.at(-1);
  if (latest === undefined) throw new Error(`the payment page has no transaction after ${action}`);
  return latest.transaction_id;
}

export async function setFulfilment(orderId: string, fulfilment: Schemas['FulfilmentDto']['fulfilment']) {
  await callAsAdmin('PUT', `/api/admin/orders/${orderId}/fulfilment`, { data: { fulfilment } });
}

/** Records that a part of the money of an order was returned by hand. */
export async function refundByHand(orderId: string, amount: number) {
  await callAsAdmin('POST', `/api/admin/orders/${orderId}/refund`, { data: { amount, manual: true } });
}

/** Appends random characters, so that the name is unique in the shop. */
export function makeUnique(name: string): string {
  return `${name} ${randomUUID().slice(0, 8)}`;
}

/** Creates a product with a unique name and without pictures. */
export async function createProduct(prefix: string, price: number): Promise<Schemas['ProductView']> {
  const multipart = { name: makeUnique(prefix), description: 'Only this week.', price };
  const path = '/api/products';
  return (await callAsAdmin<{ products: Schemas['ProductView'] }>('POST', path, { multipart })).products;
}

/** Changes the price of a product that `createProduct` has created. The service requires the field `images.removed[]`. */
export async function changePrice({ id, name }: Schemas['ProductView'], price: number) {
  const multipart = { name, description: 'Only this week.', price, 'images.removed[]': '' };
  await callAsAdmin('PUT', `/api/products/${id}`, { multipart });
}

export async function makeUnavailable(id: number) {
  await callAsAdmin('PUT', `/api/admin/products/${id}/availability`, { data: { available: false } });
}

export async function readShop(): Promise<ShopSettings> {
  const { shop } = await callAsAdmin<{ shop: ShopSettings & { pickup: unknown } }>('GET', '/api/shop');
  const { pickup: _, ...settings } = shop;
  return settings;
}

export async function changeShop(change: Partial<ShopSettings>): Promise<void> {
  await callAsAdmin('PUT', '/api/admin/shop', { data: { ...(await readShop()), ...change } });
}

/** Changes settings of the shop before each test of a file, or of a `describe`, and restores all settings afterwards. */
export function useShopSettings(change: Partial<ShopSettings>): void {
  let before: ShopSettings;
  beforeEach(async () => {
    before = await readShop();
    await changeShop(change);
  });
  afterEach(() => changeShop(before));
}

export function inDays(days: number): Date {
  return new Date(Date.now() + days * 24 * 60 * 60_000);
}

/** Returns the date of an instant in the time zone of the shop. */
export function toShopDate(instant: Date): string {
  return toLocalDate(instant, DEFAULT_SHOP.time_zone);
}

let adminApi: Promise<APIRequestContext> | undefined;

async function callAsAdmin<Data = void>(
  method: string,
  path: string,
  body: { data?: object; multipart?: Record<string, string | number> } = {},
): Promise<Data> {
  adminApi ??= signInAsAdmin();
  return readData(await (await adminApi).fetch(path, { ...LIKE_BROWSER, method, ...body }));
}

async function signInAsAdmin(): Promise<APIRequestContext> {
  const { request } = await browser.newContext({ baseURL: serviceUrl });
  await readData(await request.post('/api/login', { ...LIKE_BROWSER, data: admin }));
  return request;
}

async function readData<Data>(response: APIResponse): Promise<Data> {
  const text = await response.text();
  if (!response.ok()) throw new Error(`status ${response.status()}: ${text}`);
  return (text === '' ? undefined : (JSON.parse(text) as { data: Data }).data) as Data;
}
