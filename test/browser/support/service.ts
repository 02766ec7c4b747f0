import { until } from '../../support/wait.js';
import { asAdmin, newEmail, PASSWORD, serviceUrl } from './shopper.js';

/** Customer who calls the service without a browser. */
export interface ApiCustomer {
  readonly name: string;
  readonly call: (method: string, path: string, body?: object) => Promise<Response>;
}

export async function registerCustomer(name: string): Promise<ApiCustomer> {
  const account = { email: newEmail(), fullname: name, password: PASSWORD, passwordConfirmation: PASSWORD };
  const registered = await callService('', 'POST', '/api/register', account);
  const cookie = registered.headers.getSetCookie().map((header) => header.split(';', 1)[0]);
  return { name, call: (method, path, body) => callService(cookie.join('; '), method, path, body) };
}

interface OrderDetails {
  readonly pickup_at?: string;
  readonly phone?: string;
  readonly note?: string;
}

/** Orders pieces of products and pays with QRIS. @returns the order's id */
export async function placePaidOrder(
  { call }: ApiCustomer,
  quantities: Readonly<Record<number, number>>,
  details: OrderDetails = {},
): Promise<string> {
  const items = Object.entries(quantities).map(([id, quantity]) => ({ product_id: Number(id), quantity }));
  const response = await call('POST', '/api/orders', { items, ...details });
  const { order } = await readData<{ order: { order_id: string; redirect_url: string } }>(response, 201);
  const paid = await fetch(`${order.redirect_url}/qris`, {
    method: 'POST',
    headers: { Accept: 'application/json' },
  });
  if (!paid.ok) throw new Error(`the payment failed: ${paid.status} ${await paid.text()}`);
  return until('the order is paid', async () => {
    const polled = await call('GET', `/api/orders/${order.order_id}`);
    const { order: now } = await readData<{ order: { status: string } }>(polled, 200);
    return now.status === 'settlement' ? order.order_id : null;
  });
}

/** Creates a product without pictures. @returns its id */
export async function createProduct(name: string, price: number): Promise<number> {
  const response = await asAdmin('POST', '/api/products', productForm(name, price));
  return (await readData<{ products: { id: number } }>(response, 201)).products.id;
}

export async function changePrice(id: number, name: string, price: number): Promise<void> {
  const form = productForm(name, price);
  form.set('images.removed[]', '');
  await readData(await asAdmin('PUT', `/api/products/${id}`, form), 200);
}

export async function setAvailability(id: number, available: boolean): Promise<void> {
  const body = JSON.stringify({ available });
  await readData(await asAdmin('PUT', `/api/admin/products/${id}/availability`, body), 200);
}

interface ShopSettings {
  readonly time_zone: string;
  readonly hours: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly closed: readonly string[];
  readonly lead_minutes: number;
  readonly days_ahead: number;
}

/** Changes settings of the shop. @returns a function that restores them */
export async function changeShop(change: Partial<ShopSettings>): Promise<() => Promise<void>> {
  const { shop } = await readData<{ shop: ShopSettings }>(await fetch(`${serviceUrl}/api/shop`), 200);
  const save = async (settings: ShopSettings) => {
    const { time_zone, hours, closed, lead_minutes, days_ahead } = settings;
    const body = JSON.stringify({ time_zone, hours, closed, lead_minutes, days_ahead });
    await readData(await asAdmin('PUT', '/api/admin/shop', body), 200);
  };
  await save({ ...shop, ...change });
  return () => save(shop);
}

/** Opening hours around the clock. */
export const ALWAYS_OPEN = Object.fromEntries(
  ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => [day, [['00:00', '24:00']]]),
);

function productForm(name: string, price: number): FormData {
  const form = new FormData();
  form.set('name', name);
  form.set('description', 'Only this week.');
  form.set('price', String(price));
  return form;
}

function callService(cookie: string, method: string, path: string, body?: object): Promise<Response> {
  return fetch(serviceUrl + path, {
    method,
    headers: { cookie, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function readData<Data>(response: Response, status: number): Promise<Data> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`status ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: Data }).data;
}
