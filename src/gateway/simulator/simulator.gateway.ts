import type { OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, type EntityManager, type FindOptionsWhere, IsNull } from 'typeorm';
import { violatedConstraint } from '../../common/database-errors.js';
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
import { ACTIONS, performAction } from './simulator-actions.js';
import { type NotificationDefect, SimulatorTransaction } from './simulator-transaction.entity.js';

const DELIVER = 'simulator-deliver';
const EXPIRE = 'simulator-expire';
/** The real gateway also waits 15 seconds for the response to a notification. */
const DELIVERY_DEADLINE_MS = 15_000;
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** A click waits at most this long for the shop's response, so that the page can show the response. */
const RESPONSE_WAIT_MS = 2_000;
const RESPONSE_POLL_MS = 20;
/** Payment methods that the gateway cannot refund. */
const UNREFUNDABLE = ['bank_transfer', 'cstore'];

type Criteria = FindOptionsWhere<SimulatorTransaction>;
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
    this.jobs.handle<Delivery>(DELIVER, (delivery) => this.#deliver(delivery), { kind: 'payments' });
    this.jobs.handle<{ orderId: string }>(EXPIRE, ({ orderId }) => this.cancelOrExpire(orderId, 'expire'));
  }

  async openPaymentPage(request: PaymentPageRequest): Promise<PaymentPage> {
    const { attemptId: orderId } = request;
    const token = randomUUID();
    const expiresAt = new Date(Date.now() + LIFETIME_MS);
    try {
      await this.dataSource.transaction(async (tx) => {
        await tx.insert(SimulatorTransaction, { ...request, token, expiresAt });
        await this.jobs.enqueue(tx, EXPIRE, { orderId }, { key: `${EXPIRE}:${orderId}`, runAt: expiresAt });
      });
    } catch (error) {
      if (violatedConstraint(error) !== 'simulator_transactions_pkey') throw error;
      throw new AttemptIdTakenError('order_id was used before');
    }
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  async getTransaction(attemptId: string): Promise<GatewayTransaction | null> {
    const transaction = await this.find({ attemptId });
    if (transaction?.payment == null) return null;
    const fields = transaction.toMessage(transaction.status, this.env.midtransServerKey);
    return parseTransaction({ httpStatus: 200, fields, text: JSON.stringify(fields) });
  }

  async cancelOrExpire(attemptId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    // Before a payment method is chosen, only the page ends. The gateway sends no notification.
    const unusedPage = { attemptId, status: IsNull() };
    const { affected } = await this.dataSource.manager.update(SimulatorTransaction, unusedPage, { status });
    if (affected === 0) await this.#perform({ attemptId }, status);
    return this.getTransaction(attemptId);
  }

  async refund(attemptId: string, request: RefundRequest): Promise<GatewayTransaction> {
    await this.#change({ attemptId }, (transaction) => {
      const { status, payment, refundedAmount, grossAmount } = transaction;
      if (payment?.refunds?.some(({ refund_key }) => refund_key === request.refundKey)) return false;
      const isSettled = status === 'settlement' || status === 'partial_refund';
      const isExcessive = refundedAmount + request.amount > grossAmount;
      if (!isSettled || isExcessive || UNREFUNDABLE.includes(payment?.payment_type ?? ''))
        throw new GatewayRejectedError('the payment cannot be refunded');
      transaction.addRefund(request);
      return true;
    });
    const transaction = await this.getTransaction(attemptId);
    if (transaction === null) throw new GatewayRejectedError('there is no payment');
    return transaction;
  }

  find(criteria: Criteria): Promise<SimulatorTransaction | null> {
    return this.dataSource.manager.findOneBy(SimulatorTransaction, criteria);
  }

  /**
   * Performs an action of a payment page, and waits up to 2 seconds for the shop's response to the notification.
   * @returns false, with nothing changed, if the page or the action is unknown or the status does not allow the action
   */
  async act(token: string, action: string): Promise<boolean> {
    const isPerformed = await this.#perform({ token }, action);
    for (let waited = 0; isPerformed && waited < RESPONSE_WAIT_MS; waited += RESPONSE_POLL_MS) {
      const transaction = await this.find({ token });
      if (transaction?.notifications.every(({ answer }) => answer !== null) === true) break;
      await delay(RESPONSE_POLL_MS);
    }
    return isPerformed;
  }

  async #perform(criteria: Criteria, name: string): Promise<boolean> {
    const action = ACTIONS.get(name);
    if (action === undefined) return false;
    const change = (transaction: SimulatorTransaction): boolean => performAction(action, transaction);
    return this.#change(criteria, change, action.notificationDefect);
  }

  /**
   * Changes a transaction and enqueues a notification about the change.
   * @param change returns false if it changed nothing, and then no notification is enqueued
   */
  #change(
    criteria: Criteria,
    change: (transaction: SimulatorTransaction) => boolean,
    defect?: NotificationDefect,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await lockTransaction(tx, criteria);
      if (transaction === null || !change(transaction)) return false;
      const id = transaction.addNotification(this.env.midtransServerKey, defect);
      await tx.save(transaction);
      const delivery: Delivery = { orderId: transaction.attemptId, id };
      await this.jobs.enqueue(tx, DELIVER, delivery, { key: `${DELIVER}:${id}` });
      return true;
    });
  }

  /** @throws Error if the shop does not respond, or responds with a 5xx, so that the job is retried */
  async #deliver({ orderId: attemptId, id }: Delivery): Promise<void> {
    const transaction = await this.find({ attemptId });
    const notification = transaction?.notifications.find((sent) => sent.id === id);
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
      const notifications = (await lockTransaction(tx, { attemptId }))?.notifications ?? [];
      const answered = notifications.map((sent) => (sent.id === id ? { ...sent, answer } : sent));
      await tx.update(SimulatorTransaction, { attemptId }, { notifications: answered });
    });
    if (response.status >= 500) throw new Error(`a notification of the simulator got ${answer}`);
  }
}

function lockTransaction(tx: EntityManager, where: Criteria): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
