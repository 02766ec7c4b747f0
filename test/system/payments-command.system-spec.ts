import { expectExit } from '../support/process.js';
import { gatewaySettings } from '../support/orders.js';
import { readJobs } from '../support/jobs.js';
import { useShop } from '../support/shop.js';

const shop = await useShop();

/** Runs `npm run payments` and expects this exit code. Returns the output. */
function runPayments(exitCode: number, ...args: string[]): Promise<string> {
  const settings = {
    ...gatewaySettings(shop.gateway),
    DATABASE_URL: shop.service.database.url,
    DATA_DIR: shop.service.dataDir,
    LOG_LEVEL: 'error',
  };
  return expectExit(exitCode, 'src/commands/payments.js', settings, args);
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

it('npm run payments -- repair restores the payment of an order that 1.2 overwrote, names the order, and changes nothing when it runs again', async () => {
  const orderId = await storeDamagedOrder();
  expect(await runPayments(0, 'repair')).toContain(`${orderId}\tdeny (transaction T1) → settlement`);
  expect(await shop.readStatus(orderId)).toBe('settlement');
  const second = await runPayments(0, 'repair');
  expect(second).toContain('0 of 1 orders with several payment events were changed');
});

it('npm run payments -- reject-refund ends a refund that the gateway never answers, so that the money can be returned by hand', async () => {
  const orderId = await shop.orderTwoPieces();
  await shop.setStatusAndNotify(orderId, 'settlement');
  shop.gateway.addFault({ operation: 'refund', kind: 'garbage' });
  for (const manual of [false, true])
    expect((await shop.requestRefund(orderId, { manual })).status).toBe(502);
  const [job] = await readJobs(shop.service.database.pool, 'settle-refund');
  const refundId = job?.key?.split(':')[1] ?? '';

  // While the job calls the gateway, the refund may succeed.
  await shop.query(
    "UPDATE refunds SET claim_id = refund_id, claimed_at = clock_timestamp() + interval '1 minute'",
  );
  const rejected = await runPayments(1, 'reject-refund', refundId);
  expect(rejected).toContain('the gateway is being called now; try again in a minute');
  await shop.query('UPDATE refunds SET claim_id = NULL, claimed_at = NULL');

  expect(await runPayments(0, 'reject-refund', refundId)).toContain(`refund ${refundId}: rejected`);
  expect((await shop.requestRefund(orderId, { manual: true })).status).toBe(200);
  await runPayments(1, 'reject-refund', refundId);
});

it('the next notification of an order that 1.2 overwrote restores its payment too', async () => {
  const orderId = await storeDamagedOrder();
  await shop.notify(orderId, { transaction_id: 'T1', transaction_status: 'deny', status_code: '202' });
  expect(await shop.readStatus(orderId)).toBe('settlement');
});
