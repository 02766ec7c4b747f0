import { expectFailure, MESSAGES } from './support/failure.js';
import { sendNotification } from './support/notifications.js';
import { useShop } from './support/shop.js';

const shop = await useShop();

/** Hides the signature: a signature covers only three fields, so a person who sees one could send a notification with other values. */
const redact = (payload: string) => payload.replace(/"signature_key":"[^"]*"/, '"signature_key":"…"');

describe('the payment history of an order', () => {
  it('contains every notification with a valid signature as received, with its outcome and source, oldest first', async () => {
    const orderId = await shop.orderTwoPieces();
    const { transactionId } = shop.gateway.setStatus(orderId, 'pending');
    const sent: string[] = [];
    const sendText = async (text: string): Promise<void> => {
      sent.push(text);
      await sendNotification(shop.service, text);
    };
    const send = (overrides: Record<string, unknown> = {}) =>
      sendText(JSON.stringify(shop.gateway.notification(orderId, overrides)));
    // An undocumented field, and bytes that another serializer would write differently.
    const undocumented = '\t"note": "caf\\u00e9 ☕ \\u0000", "amount": 1.00 }';
    await sendText(JSON.stringify(shop.gateway.notification(orderId)).replace(/\}$/, `,\n${undocumented}`));
    shop.gateway.settle(orderId);
    await send();
    await send();
    await send({ transaction_status: 'authorize' });
    await send({ fraud_status: undefined }); // Rejected, because notifications require the field. Starts a check.
    // The check adds no event, because a status response is stored only if it changes the order.
    await shop.waitForPaymentChecks();
    await send({ signature_key: 'f'.repeat(128) }); // Not stored.

    const { notifications, meta } = await shop.readAsAdmin(orderId);
    expect(notifications).toMatchObject([
      { outcome: 'applied', transaction_status: 'pending', status_code: '201' },
      { outcome: 'applied', transaction_status: 'settlement', status_code: '200' },
      { outcome: 'duplicate', transaction_status: 'settlement', status_code: '200' },
      { outcome: 'late', transaction_status: 'authorize', status_code: '200' },
      { outcome: 'rejected', transaction_status: null, status_code: null },
    ]);
    expect(notifications[0]).toEqual({
      id: expect.any(Number) as number,
      received_at: expect.any(String) as string,
      source: 'notification',
      outcome: 'applied',
      transaction_id: transactionId,
      transaction_status: 'pending',
      status_code: '201',
      gross_amount: '370000.00',
      fraud_status: 'accept',
      payload: redact(sent[0] ?? ''),
    });
    expect(notifications.map(({ payload }) => payload)).toEqual(sent.slice(0, 5).map(redact));
    expect(meta).toEqual({ lastNotificationId: notifications.at(-1)?.id });
  });

  it('does not show a signature that is spelled with JSON escapes', async () => {
    const orderId = await shop.orderTwoPieces();
    shop.gateway.setStatus(orderId, 'pending');
    const escapeFirst = (hex: string) => `"signature_key":"\\u00${hex.charCodeAt(0).toString(16)}`;
    const text = JSON.stringify(shop.gateway.notification(orderId));
    const escaped = text.replace(/"signature_key":"(.)/, (_, hex: string) => escapeFirst(hex));
    await sendNotification(shop.service, escaped).expect(200);
    const { notifications } = await shop.readAsAdmin(orderId);
    expect(notifications.map(({ payload }) => payload)).toEqual([redact(escaped)]);
  });

  it('contains a status response of the gateway as received, with fields that the service does not know', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.settle(orderId, { paymentType: 'cstore' });
    await shop.reconcile([orderId]);
    const [event] = (await shop.readAsAdmin(orderId)).notifications;
    expect(event).toMatchObject({ source: 'reconciliation', outcome: 'applied', fraud_status: null });
    expect(JSON.parse(String(event?.payload))).toMatchObject({
      status_message: 'Success, transaction is found',
      store: 'indomaret',
      order_id: orderId,
    });
  });

  it('contains the notifications of later payment attempts, and is found by the id of the order in lower or upper case, not by that of a later attempt', async () => {
    const orderId = await shop.insertOrder();
    const attemptId = await shop.addAttempt(orderId);
    await shop.setStatusAndNotify(attemptId, 'settlement');
    for (const id of [orderId, orderId.toUpperCase()]) {
      const { order, notifications } = await shop.readAsAdmin(id);
      expect(order.order_id).toBe(orderId);
      expect(notifications).toMatchObject([{ outcome: 'applied', transaction_status: 'settlement' }]);
    }
    await shop.admin.get(`/api/admin/orders/${attemptId}`).expect(404);
  });
});

describe('a page of the payment history', () => {
  it('contains the 50 events after last_id, oldest first, and 404 marks the end', async () => {
    const orderId = await shop.insertOrder();
    shop.gateway.settle(orderId);
    for (let count = 0; count < 101; count += 1) await shop.notify(orderId);
    const ids: number[] = [];
    let lastId = 0;
    for (const length of [50, 50, 1]) {
      const { meta, notifications } = await shop.readAsAdmin(orderId, `?last_id=${lastId}`);
      expect(notifications).toHaveLength(length);
      ids.push(...notifications.map(({ id }) => Number(id)));
      lastId = Number(meta.lastNotificationId);
      expect(lastId).toBe(ids.at(-1));
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    for (const end of [lastId, '99999999999999999999']) {
      expectFailure(
        await shop.admin.get(`/api/admin/orders/${orderId}?last_id=${end}`),
        404,
        MESSAGES.notFound,
      );
    }
  });
});
