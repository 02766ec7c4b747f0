import { runBuilt } from '../support/process.js';
import { gatewaySettings } from '../support/orders.js';
import { ACCESS_SECRET, REFRESH_SECRET } from '../support/service.js';
import { openShop, type Shop } from '../support/shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

function repair() {
  const settings = {
    ...gatewaySettings(shop.gateway),
    DATABASE_URL: shop.service.database.url,
    JWT_ACCESS_SECRET: ACCESS_SECRET,
    JWT_REFRESH_SECRET: REFRESH_SECRET,
    LOG_LEVEL: 'error',
  };
  return runBuilt('src/commands/payments.js', settings, ['repair']);
}

/** Stores an order as 1.2 did after a late `deny` of another transaction: the settlement before it was overwritten. */
async function storeDamagedOrder(): Promise<string> {
  const orderId = await shop.orderTwoPieces();
  await shop.setStatusAndNotify(orderId, 'settlement');
  await shop.notify(orderId, { transaction_id: 'T1', transaction_status: 'deny', status_code: '202' });
  await shop.query(
    "UPDATE payment_notifications SET outcome = 'applied', attempt_id = NULL WHERE order_id = $1",
    [orderId],
  );
  await shop.query(
    "UPDATE orders SET status = 'deny', transaction_id = 'T1', completed_at = NULL WHERE order_id = $1",
    [orderId],
  );
  return orderId;
}

describe('npm run payments -- repair', () => {
  it('restores the payment of an order that 1.2 overwrote, names the order, and changes nothing when it runs again', async () => {
    const orderId = await storeDamagedOrder();
    const first = await repair();
    expect(first).toMatchObject({ code: 0 });
    expect(first.output).toContain(`${orderId}\tdeny (transaction T1) → settlement`);
    expect(await shop.readStatus(orderId)).toBe('settlement');
    const second = await repair();
    expect(second.output).toContain('0 of 1 orders with several payment events were changed');
  });
});

it('the next notification of an order that 1.2 overwrote restores its payment too', async () => {
  const orderId = await storeDamagedOrder();
  await shop.notify(orderId, { transaction_id: 'T1', transaction_status: 'deny', status_code: '202' });
  expect(await shop.readStatus(orderId)).toBe('settlement');
});
