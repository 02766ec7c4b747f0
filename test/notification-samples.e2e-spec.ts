import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expectInvalid } from './support/failure.js';
import { readMetric } from './support/metrics.js';
import { type MidtransStatus } from './support/midtrans-stand-in.js';
import { computeSignature, type Notification, sendNotification } from './support/notifications.js';
import { GROSS_AMOUNT, useShop } from './support/shop.js';

/** Notification as the gateway's documentation shows it, without its signature. */
interface Sample {
  readonly name: string;
  /** Page of the documentation. */
  readonly source: string;
  readonly notification: Omit<Notification, 'signature_key' | 'fraud_status' | 'transaction_status'> & {
    readonly fraud_status?: string | null;
    readonly transaction_status: MidtransStatus;
  };
}

const path = new URL('fixtures/midtrans-notifications.json', import.meta.url);
const samples = JSON.parse(readFileSync(path, 'utf8')) as Sample[];
const shop = await useShop();

/** Sends a sample for a new order with this transaction at the gateway. The sample is signed for the order. */
async function sendSample({ notification }: Sample) {
  const { transaction_status: status, payment_type: paymentType, fraud_status: fraudStatus } = notification;
  const transactionId = randomUUID();
  const change = { transactionId, paymentType, fraudStatus: fraudStatus ?? null };
  const orderId = await shop.orderWithUnreportedPayment(status, change);
  const gross_amount = `${GROSS_AMOUNT}.00`;
  const sent = { ...notification, order_id: orderId, transaction_id: transactionId, gross_amount };
  const signed = { ...sent, signature_key: computeSignature(sent) };
  return { orderId, response: await sendNotification(shop.service, signed) };
}

const countIncomplete = (): Promise<number> =>
  readMetric('bakery_payment_notifications_total', { outcome: 'incomplete' });

describe("a notification of the gateway's documentation", () => {
  const isComplete = ({ notification }: Sample) => notification.fraud_status !== undefined;

  it.each(samples.filter(isComplete))('is applied: $name', async (sample) => {
    const { orderId, response } = await sendSample(sample);
    expect([response.status, response.text]).toEqual([200, '']);
    const { transaction_status: status, payment_type, fraud_status } = sample.notification;
    expect(await shop.readStoredOrder(orderId)).toMatchObject({ status, payment_type, fraud_status });
  });

  it.each(samples.filter((sample) => !isComplete(sample)))(
    'without fraud_status is incomplete, and the order follows the status API: $name',
    async (sample) => {
      const before = await countIncomplete();
      const { orderId, response } = await sendSample(sample);
      expect(response.status).toBe(400);
      expectInvalid(response, { fraud_status: 'fraud_status is required' });
      expect(await countIncomplete()).toBe(before + 1);
      await shop.waitForPaymentChecks();
      const { transaction_status: status, payment_type } = sample.notification;
      expect(await shop.readStoredOrder(orderId)).toMatchObject({ status, payment_type, fraud_status: null });
      expect(await shop.describeHistory(orderId)).toContain('notification - rejected');
    },
  );

  it('with the fraud_status null is incomplete too', async () => {
    const before = await countIncomplete();
    const [sample] = samples as [Sample];
    const { response } = await sendSample({
      ...sample,
      notification: { ...sample.notification, fraud_status: null },
    });
    expectInvalid(response, { fraud_status: 'fraud_status is required' });
    expect(await countIncomplete()).toBe(before + 1);
    await shop.waitForPaymentChecks();
  });
});
