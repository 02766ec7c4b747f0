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
  return { orderId, sent, response: await sendNotification(shop.service, signed) };
}

describe("a notification of the gateway's documentation", () => {
  const complete = samples.filter(({ notification }) => notification.fraud_status !== undefined);
  const incomplete = samples.filter((sample) => !complete.includes(sample));
  const withNull = complete.slice(0, 1).map((sample) => {
    return {
      ...sample,
      name: 'fraud_status is null',
      notification: { ...sample.notification, fraud_status: null },
    };
  });

  it.each(complete)('is applied, and the order keeps its fields: $name', async (sample) => {
    const { orderId, sent, response } = await sendSample(sample);
    expect([response.status, response.text]).toEqual([200, '']);
    expect(await shop.readStoredOrder(orderId)).toMatchObject({
      status: sent.transaction_status,
      payment_type: sent.payment_type,
      fraud_status: sent.fraud_status,
      transaction_id: sent.transaction_id,
      transaction_amount: sent.gross_amount,
    });
  });

  it.each([...incomplete, ...withNull])(
    'without fraud_status is incomplete, and the order follows the status API: $name',
    async (sample) => {
      const countIncomplete = () =>
        readMetric('bakery_payment_notifications_total', { outcome: 'incomplete' });
      const before = await countIncomplete();
      const { orderId, sent, response } = await sendSample(sample);
      expectInvalid(response, { fraud_status: 'fraud_status is required' });
      expect(await countIncomplete()).toBe(before + 1);
      await shop.waitForPaymentChecks();
      const { transaction_status: status, payment_type } = sent;
      expect(await shop.readStoredOrder(orderId)).toMatchObject({ status, payment_type, fraud_status: null });
      expect(await shop.describeHistory(orderId)).toContain('notification - rejected');
    },
  );
});
