import { join } from 'node:path';
import { copy, install, runScript } from './install.mjs';

const CLI = 'node_modules/@medusajs/cli/cli.js';
const PASSWORD = 'kue lapis legit';
const ADDRESS = {
  first_name: 'Ayu',
  last_name: 'Lestari',
  address_1: 'Jalan 1',
  city: 'Jakarta',
  postal_code: '10110',
  country_code: 'id',
};

/** Opens a Medusa shop. Its system payment provider authorizes at once. A person would capture the payment later. */
export async function openMedusa(bench) {
  const { stage, client, customers, products, pickProducts, log } = bench;
  const folder = join(bench.folder, 'medusa');
  const version = install(folder, ['@medusajs/medusa@2', '@medusajs/framework@2', '@medusajs/cli@2'], log);
  const settings = {
    NODE_ENV: 'production',
    DATABASE_URL: await bench.createDatabase('medusa'),
    BENCH_SECRET: bench.secret,
    PRODUCTS: String(products),
    MEDUSA_DISABLE_TELEMETRY: 'true',
  };
  copy('medusa/medusa-config.mjs', join(folder, 'medusa-config.js'));
  copy('medusa/seed.mjs', join(folder, 'seed.mjs'));
  log('filling Medusa');
  runScript(folder, [CLI, 'db:migrate'], settings);
  const [, seeded] = /^SHOP (.*)$/m.exec(runScript(folder, [CLI, 'exec', 'seed.mjs'], settings));
  const shop = JSON.parse(seeded);
  const place = { cwd: folder, args: ['start'] };
  const started = await stage.processes.start('medusa', join(folder, CLI), settings, bench.flags, place);

  /** @throws Error if the response is not a success. @returns the body */
  const post = async (path, content, token) => {
    const headers = {
      'Content-Type': 'application/json',
      'x-publishable-api-key': shop.key,
      ...(token && { Authorization: `Bearer ${token}` }),
    };
    const request = { method: 'POST', headers, body: JSON.stringify(content) };
    const { status, body } = await client.send(started.url + path, request);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  const accountOf = (number) => ({ email: `customer${number}@example.com`, password: PASSWORD });
  const signIn = async (number) => (await post('/auth/customer/emailpass', accountOf(number))).token;
  for (let number = 1; number <= customers; number += 1) {
    const { token } = await post('/auth/customer/emailpass/register', accountOf(number));
    await post('/store/customers', { email: accountOf(number).email, first_name: 'Ayu' }, token);
  }

  const createCart = async (token, content) =>
    (await post('/store/carts', { region_id: shop.region, ...content }, token)).cart.id;
  const pickItems = () => pickProducts().map((id) => ({ variant_id: shop.variants[id - 1], quantity: 1 }));
  const payCart = async (cart, token) => {
    await post(`/store/carts/${cart}/shipping-methods`, { option_id: shop.option }, token);
    const { payment_collection: payment } = await post(
      '/store/payment-collections',
      { cart_id: cart },
      token,
    );
    const session = { provider_id: 'pp_system_default' };
    await post(`/store/payment-collections/${payment.id}/payment-sessions`, session, token);
    const { type } = await post(`/store/carts/${cart}/complete`, {}, token);
    if (type !== 'order') throw new Error(`a cart became ${type}`);
  };
  return {
    version,
    started,
    signIn,
    flows: {
      '9 requests': async (token) => {
        const cart = await createCart(token, {});
        for (const item of pickItems()) await post(`/store/carts/${cart}/line-items`, item, token);
        await post(`/store/carts/${cart}`, { shipping_address: ADDRESS }, token);
        await payCart(cart, token);
      },
      '5 requests': async (token) => {
        const cart = await createCart(token, { items: pickItems(), shipping_address: ADDRESS });
        await payCart(cart, token);
      },
    },
    countPaid: async () => {
      const [{ paid }] = await stage.query(
        settings.DATABASE_URL,
        `SELECT count(*)::integer AS paid FROM "order" AS o
         JOIN order_payment_collection AS link ON link.order_id = o.id
         JOIN payment_collection AS payment ON payment.id = link.payment_collection_id
         WHERE payment.status = 'authorized' AND payment.authorized_amount = payment.amount
           AND (SELECT count(*) FROM order_item WHERE order_id = o.id) = 3`,
      );
      return paid;
    },
  };
}
