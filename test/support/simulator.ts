import type { Response } from 'supertest';
import { readHistory } from './notifications.js';
import { placeOrder, readOrder } from './orders.js';
import { findFreePort } from './process.js';
import { insertProduct } from './products.js';
import { useService } from './service.js';

interface PaymentView {
  readonly transaction_status: string | null;
  readonly refunded_amount: number;
  readonly actions: readonly string[];
  readonly transactions: readonly {
    readonly transaction_id: string;
    readonly payment_type: string;
    readonly transaction_status: string;
  }[];
  readonly notifications: readonly { readonly answer: string | null }[];
}

/** Starts a service with the payment simulator for the tests of a file, with an administrator, a customer and a product. */
export async function useSimulator() {
  const port = await findFreePort();
  // The simulator sends its notifications to PUBLIC_URL.
  const service = await useService({ port, settings: { PUBLIC_URL: `http://127.0.0.1:${port}` } });
  const customer = await service.customer();
  const admin = await service.admin();
  const productId = await insertProduct(service, 185_000, 'Kue lapis');

  /** Places an order. The returned functions use its payment page, and read or refund the order. */
  async function openPaymentPage(by = customer, product = productId) {
    const items = [{ product_id: product, quantity: 1 }];
    const { order_id: orderId, redirect_url: url } = await placeOrder(by, items);
    const path = new URL(url ?? '').pathname;
    const anyone = service.client();
    const viewOf = ({ body }: Response): PaymentView => (body as { data: PaymentView }).data;
    const readView = async () => viewOf(await anyone.get(path).set('Accept', 'application/json').expect(200));
    /** Posts an action like a script, which accepts JSON. */
    const postAction = (action: string, status = 200) =>
      anyone.post(`${path}/${action}`).set('Accept', 'application/json').expect(status);
    return {
      orderId,
      path,
      readHtml: async () => (await anyone.get(path).set('Accept', 'text/html').expect(200)).text,
      readView,
      /** Returns the service's responses to the simulator's notifications, oldest first. */
      readNotificationResponses: async () => (await readView()).notifications.map(({ answer }) => answer),
      /** Posts actions one after another like a script, each for the latest transaction. */
      postActions: async (...actions: readonly string[]) => {
        for (const action of actions) await postAction(action);
      },
      /** Posts an action for a transaction like a script. */
      postTransactionAction: (transactionId: string, action: string, status?: number) =>
        postAction(`transactions/${transactionId}/${action}`, status),
      /** Transactions as `payment_type transaction_status`, oldest first. */
      describeTransactions: async () =>
        (await readView()).transactions.map((each) => `${each.payment_type} ${each.transaction_status}`),
      /** Posts an action like a browser. */
      clickAction: (action: string) => anyone.post(`${path}/${action}`),
      readOrder: () => readOrder(by, orderId),
      refund: (body: object, status = 200) =>
        admin.post(`/api/admin/orders/${orderId}/refund`).send(body).expect(status),
      /** Payment history as `status outcome`, oldest first. */
      describeHistory: async () =>
        (await readHistory(service, orderId)).map(
          ({ transaction_status, outcome }) => `${transaction_status ?? '?'} ${outcome}`,
        ),
    };
  }

  /** Starts a bank transfer, which stays pending, and pays with GoPay. */
  async function startTwoTransactions() {
    const page = await openPaymentPage();
    await page.postActions('bank-transfer', 'gopay');
    const [first, second] = (await page.readView()).transactions;
    if (first === undefined || second === undefined)
      throw new Error('the page does not show both transactions');
    return { ...page, firstId: first.transaction_id, secondId: second.transaction_id };
  }

  return { service, customer, openPaymentPage, startTwoTransactions };
}
