import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 50;

/**
 * Sends the traffic of a small shop: customers read the catalog, order and pay, one of them mistypes a password, and an
 * administrator adds products.
 * @returns the number of requests
 */
export async function runLoad(url, administrator, milliseconds) {
  const picture = new Blob([await readFile('examples/pictures/slice.png')], { type: 'image/png' });
  let requests = 0;
  const call = async (method, path, { cookies = '', body, headers = {} } = {}) => {
    requests += 1;
    const isForm = body instanceof FormData;
    const response = await fetch(path.startsWith('http') ? path : url + path, {
      method,
      headers: {
        ...headers,
        cookie: cookies,
        ...(body && !isForm && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      cookies: response.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';', 1)[0])
        .join('; '),
      data: text.startsWith('{') ? JSON.parse(text).data : undefined,
    };
  };
  const addProduct = async (admin) => {
    const form = new FormData();
    form.set('name', 'Kue lapis');
    form.set('description', 'Eighteen layers');
    form.set('price', '185000');
    form.set('images', picture, 'slice.png');
    return (await call('POST', '/api/products', { cookies: admin, body: form })).data.products.id;
  };

  const { cookies: admin } = await call('POST', '/api/login', { body: administrator });
  const password = 'kue lapis';
  const { cookies } = await call('POST', '/api/register', {
    body: { email: 'ayu@example.com', fullname: 'Ayu', password, passwordConfirmation: password },
  });
  const until = Date.now() + milliseconds;
  for (let round = 0; Date.now() < until; round += 1) {
    const id = await addProduct(admin);
    for (let page = 0; page < 5; page += 1) await call('GET', '/api/products', { cookies });
    const { data } = await call('POST', '/api/orders', {
      cookies,
      body: { items: [{ product_id: id, quantity: 1 }] },
    });
    await call('POST', `${data.order.redirect_url}/qris`, { headers: { Accept: 'application/json' } });
    await call('GET', `/api/orders/${data.order.order_id}`, { cookies });
    await call('GET', '/api/nowhere');
    if (round % 5 === 0) {
      await call('POST', '/api/login', { body: { email: 'ayu@example.com', password: 'mistyped' } });
      await call('POST', '/api/password/forgot', { body: { email: 'ayu@example.com' } });
      await call('DELETE', `/api/products/${id}`, { cookies: admin });
    }
    await delay(PAUSE_MS);
  }
  return requests;
}
