import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OnModuleInit } from '@nestjs/common';
import { type DataSource, type EntityManager, type FindOptionsWhere, IsNull, Raw } from 'typeorm';
import { violatedConstraint } from '../../common/errors/error-info.js';
import type { Env } from '../../config/env.js';
import type { JobsService } from '../../jobs/jobs.service.js';
import { parseTransaction } from '../midtrans.messages.js';
import {
  AttemptIdTakenError,
  GatewayRejectedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type PaymentPageRequest,
  type RefundRequest,
} from '../payment-gateway.js';
import { type ActionName, ACTIONS, computeChange } from './simulator-actions.js';
import {
  type NotificationDefect,
  readRefundedAmount,
  type SimulatedTransaction,
  SimulatorPage,
} from './simulator-page.entity.js';

const DELIVER = 'simulator-deliver';
const EXPIRE = 'simulator-expire';
/** The real gateway also waits 15 seconds for the response to a notification. */
const DELIVERY_DEADLINE_MS = 15_000;
/** A click waits at most this long for the shop's response, so that the page can show the response. */
const RESPONSE_WAIT_MS = 2_000;
const RESPONSE_POLL_MS = 20;
const UNREFUNDABLE = ['bank_transfer', 'cstore'];

type Criteria = FindOptionsWhere<SimulatorPage> | FindOptionsWhere<SimulatorPage>[];
/** Payload of the job DELIVER: `id` is a notification's id. Here and in EXPIRE, `orderId` is a payment attempt's id. */
type Delivery = Readonly<{ orderId: string; id: string }>;

/**
 * Payment gateway without real money. The result of a payment is chosen on the payment page. One database transaction
 * stores a change of a payment and the notification about the change. A job delivers the notification over HTTP.
 */
export class SimulatorGateway extends PaymentGateway implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {
    super();
  }

  onModuleInit(): void {
    this.jobs.handle<Delivery>(DELIVER, (delivery) => this.#deliver(delivery), 'payments');
    this.jobs.handle<{ orderId: string }>(EXPIRE, ({ orderId }) => this.#expirePage(orderId));
  }

  async openPaymentPage(request: PaymentPageRequest): Promise<PaymentPage> {
    const { attemptId, expiresAt } = request;
    const token = randomUUID();
    try {
      await this.dataSource.transaction(async (tx) => {
        await tx.insert(SimulatorPage, { ...request, token });
        await this.jobs.enqueue(tx, EXPIRE, { orderId: attemptId }, { subject: attemptId, runAt: expiresAt });
      });
    } catch (error) {
      if (violatedConstraint(error) !== 'simulator_transactions_pkey') throw error;
      throw new AttemptIdTakenError('order_id was used before');
    }
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  async getTransaction(id: string): Promise<GatewayTransaction | null> {
    const page = await this.find(byId(id));
    const transaction = page?.findTransaction(id);
    if (page === null || transaction === undefined) return null;
    const fields = page.toMessage(transaction, this.env.midtransServerKey);
    return parseTransaction({ fields, text: JSON.stringify(fields) }, id);
  }

  async cancelOrExpire(id: string, operation: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    // Before a payment method is chosen, only the page ends. The gateway sends no notification.
    const unusedPage = { attemptId: id, status: IsNull() };
    const { affected } = await this.dataSource.manager.update(SimulatorPage, unusedPage, {
      status: operation,
    });
    if (affected === 0) await this.#change(byId(id), (page) => computeChange(page, operation, id));
    return this.getTransaction(id);
  }

  async refund(transactionId: string, request: RefundRequest): Promise<GatewayTransaction> {
    await this.#change(byId(transactionId), (page) => {
      const transaction = page.findTransaction(transactionId);
      if (transaction === undefined) return null;
      const { transaction_status: status, payment_type: method, refunds = [] } = transaction;
      if (refunds.some(({ refund_key }) => refund_key === request.refundKey)) return null;
      const isSettled = status === 'settlement' || status === 'partial_refund';
      const isExcessive = readRefundedAmount(transaction) + request.amount > page.grossAmount;
      if (!isSettled || isExcessive || UNREFUNDABLE.includes(method))
        throw new GatewayRejectedError(`the simulator refunds no ${method} with status ${status}`);
      return page.withRefund(transaction, request);
    });
    const transaction = await this.getTransaction(transactionId);
    if (transaction === null) throw new GatewayRejectedError('there is no such transaction');
    return transaction;
  }

  find(criteria: Criteria): Promise<SimulatorPage | null> {
    return this.dataSource.manager.findOneBy(SimulatorPage, criteria);
  }

  /**
   * Performs an action of a payment page, and waits up to 2 seconds for the shop's response to the notification.
   * @param transactionId transaction to change; by default, the latest one
   * @returns false, with nothing changed, if the page or the transaction is unknown or does not allow the action
   */
  async act(token: string, action: ActionName, transactionId?: string): Promise<boolean> {
    const change = (page: SimulatorPage) => computeChange(page, action, transactionId);
    const sentId = await this.#change({ token }, change, ACTIONS[action].notificationDefect);
    const deadline = Date.now() + RESPONSE_WAIT_MS;
    while (sentId !== null && Date.now() < deadline) {
      const page = await this.find({ token });
      if (page?.notifications.find(({ id }) => id === sentId)?.answer !== null) break;
      await delay(RESPONSE_POLL_MS);
    }
    return sentId !== null;
  }

  async #expirePage(attemptId: string): Promise<void> {
    const transactions = (await this.find({ attemptId }))?.transactions ?? [];
    const ids = transactions.map(({ transaction_id }) => transaction_id);
    for (const id of ids.length === 0 ? [attemptId] : ids) await this.cancelOrExpire(id, 'expire');
  }

  /**
   * Stores the transaction that `change` returns, and notifies the shop of it.
   * @returns the id of the notification; null, with nothing changed, if the page is unknown or `change` returns null
   */
  #change(
    criteria: Criteria,
    change: (page: SimulatorPage) => SimulatedTransaction | null,
    defect?: NotificationDefect,
  ): Promise<string | null> {
    return this.dataSource.transaction(async (tx) => {
      const page = await lockPage(tx, criteria);
      const changed = page === null ? null : change(page);
      if (page === null || changed === null) return null;
      page.storeTransaction(changed);
      const id = page.addNotification(changed, this.env.midtransServerKey, defect);
      await tx.save(page);
      const delivery: Delivery = { orderId: page.attemptId, id };
      await this.jobs.enqueue(tx, DELIVER, delivery, { subject: id });
      return id;
    });
  }

  /** @throws Error if the shop does not respond, or responds with a 5xx, so that the job is retried */
  async #deliver({ orderId: attemptId, id }: Delivery): Promise<void> {
    const page = await this.find({ attemptId });
    const notification = page?.notifications.find((sent) => sent.id === id);
    if (notification === undefined) return;
    const response = await fetch(`${this.env.publicUrl}/api/products/payments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: notification.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
    });
    await response.body?.cancel(); // An unread body would occupy the connection.
    const answer = `HTTP ${response.status}`;
    await this.dataSource.transaction(async (tx) => {
      const notifications = (await lockPage(tx, { attemptId }))?.notifications ?? [];
      const answered = notifications.map((sent) => (sent.id === id ? { ...sent, answer } : sent));
      await tx.update(SimulatorPage, { attemptId }, { notifications: answered });
    });
    if (response.status >= 500) throw new Error(`a notification of the simulator got ${answer}`);
  }
}

/** Selects a page by the id of its payment attempt or of one of its transactions. */
function byId(id: string): Criteria {
  const isLatest = Raw((payment) => `${payment} ->> 'transaction_id' = :id`, { id });
  const containsId = JSON.stringify([{ transaction_id: id }]);
  const isEarlier = Raw((earlier) => `${earlier} @> :containsId::jsonb`, { containsId });
  return [{ attemptId: id }, { payment: isLatest }, { earlier: isEarlier }];
}

function lockPage(tx: EntityManager, where: Criteria): Promise<SimulatorPage | null> {
  return tx.findOne(SimulatorPage, { where, lock: { mode: 'pessimistic_write' } });
}
