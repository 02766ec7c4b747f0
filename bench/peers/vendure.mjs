import { join } from 'node:path';
import { copy, install, runScript } from './install.mjs';

const PASSWORD = 'kue lapis legit';
const ADDRESS = '{ streetLine1: "Jalan 1", city: "Jakarta", postalCode: "10110", countryCode: "ID" }';
const FAILURE = '... on ErrorResult { message }';

/** Opens a Vendure shop. Its payment method settles at once. */
export async function openVendure(bench) {
  const { stage, client, customers, products, pickProducts, log } = bench;
  const folder = join(bench.folder, 'vendure');
  const version = install(folder, ['@vendure/core@3', 'pg@8'], log);
  const settings = {
    NODE_ENV: 'production',
    DATABASE_URL: await bench.createDatabase('vendure'),
    BENCH_SECRET: bench.secret,
    PRODUCTS: String(products),
    VENDURE_DISABLE_TELEMETRY: 'true',
  };
  copy('vendure/server.mjs', join(folder, 'server.mjs'));
  log('filling Vendure');
  runScript(folder, ['server.mjs', 'seed'], { ...settings, PORT: '0' });
  const started = await stage.processes.start('vendure', join(folder, 'server.mjs'), settings, bench.flags, {
    cwd: folder,
  });

  /** Runs mutations. @throws Error if one of them returns another type than expected. @returns the data and the session token */
  const mutate = async (mutations, token) => {
    const query = `mutation { ${mutations.map(({ text }, index) => `m${index}: ${text}`).join(' ')} }`;
    const headers = {
      'Content-Type': 'application/json',
      ...(token && { Authorization: `Bearer ${token}` }),
    };
    const {
      status,
      body,
      headers: received,
    } = await client.send(`${started.url}/shop-api`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
    });
    const isExpected = ({ type }, index) => body?.data?.[`m${index}`]?.__typename === type;
    if (status !== 200 || !mutations.every(isExpected))
      throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
    return { data: body.data, token: received['vendure-auth-token'] };
  };

  const signIn = async (number) => {
    const text = `login(username: "${emailOf(number)}", password: "${PASSWORD}") { __typename ${FAILURE} }`;
    return (await mutate([{ text, type: 'CurrentUser' }])).token;
  };

  for (let number = 1; number <= customers; number += 1) {
    const input = `{ emailAddress: "${emailOf(number)}", password: "${PASSWORD}", firstName: "Ayu", lastName: "Lestari" }`;
    const text = `registerCustomerAccount(input: ${input}) { __typename ${FAILURE} }`;
    await mutate([{ text, type: 'Success' }]);
  }

  const checkPaid = ({ data }, last) => {
    if (data[`m${last}`].state !== 'PaymentSettled') throw new Error(`an order is ${data[`m${last}`].state}`);
  };
  return {
    version,
    started,
    signIn,
    flows: {
      '7 requests': async (token) => {
        let result;
        for (const mutation of buildOrder(pickProducts())) result = await mutate([mutation], token);
        checkPaid(result, 0);
      },
      '1 request': async (token) => {
        const mutations = buildOrder(pickProducts());
        checkPaid(await mutate(mutations, token), mutations.length - 1);
      },
    },
    countPaid: async () => {
      const [{ paid }] = await stage.query(
        settings.DATABASE_URL,
        `SELECT count(*)::integer AS paid FROM "order" AS o
         WHERE state = 'PaymentSettled' AND (SELECT count(*) FROM order_line WHERE "orderId" = o.id) = 3
           AND (SELECT sum(amount) FROM payment WHERE "orderId" = o.id AND state = 'Settled') = o."subTotalWithTax" + o."shippingWithTax"`,
      );
      return paid;
    },
  };
}

/** Builds the mutations of an order of three products. The ids of the variants are those of the products. */
function buildOrder(productIds) {
  return [
    ...productIds.map((id) => `addItemToOrder(productVariantId: "${id}", quantity: 1)`),
    `setOrderShippingAddress(input: ${ADDRESS})`,
    'setOrderShippingMethod(shippingMethodId: ["1"])',
    'transitionOrderToState(state: "ArrangingPayment")',
    'addPaymentToOrder(input: { method: "dummy", metadata: {} })',
  ].map((text) => ({ text: `${text} { __typename ... on Order { state } ${FAILURE} }`, type: 'Order' }));
}

function emailOf(number) {
  return `customer${number}@example.com`;
}
