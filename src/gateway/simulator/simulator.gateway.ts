import type { OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource, EntityManager, FindOptionsWhere } from 'typeorm';
import { violatedConstraint } from '../../common/database-errors.js';
import type { Env } from '../../config/env.js';
import type { JobsService } from '../../jobs/jobs.service.js';
import {
  GatewayRefusedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type TransactionRequest,
} from '../payment-gateway.js';
import { type Action, ACTIONS, isAllowed, mayBegin } from './simulator-actions.js';
import { gatewayAnswer, notificationBody } from './simulator-messages.js';
import {
  isChosen,
  type NotificationKind,
  type SentNotification,
  SimulatorTransaction,
  type TransactionStatus,
} from './simulator-transaction.entity.js';

const EXPIRE = 'simulator-expire';
const DELIVER = 'simulator-deliver';
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** As the real gateway's. */
const DELIVERY_DEADLINE_MS = 15_000;
const KEPT_NOTIFICATIONS = 20;
/** A click waits so long to show the answer to what it sent. */
const ANSWER_WAIT_MS = 2_000;
const ANSWER_POLL_MS = 20;

/**
 * A payment gateway that takes no money: its page lets one choose what becomes of a payment, and the service hears of
 * it as from the real one, over HTTP and signed. Every change and its notification are one database transaction. It
 * passes on errors of the database.
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
    this.jobs.handle<{ orderId: string }>(EXPIRE, async ({ orderId }) => {
      await this.#change(orderId, 'expire');
    });
    this.jobs.handle<{ orderId: string; id: string }>(
      DELIVER,
      ({ orderId, id }) => this.#deliver(orderId, id),
      { kind: 'payments' },
    );
  }

  override async createTransaction(request: TransactionRequest): Promise<PaymentPage> {
    const { orderId, grossAmount, items, customer } = request;
    const sum = items.reduce((total, { price, quantity }) => total + price * quantity, 0);
    if (!Number.isSafeInteger(grossAmount) || grossAmount <= 0 || sum !== grossAmount)
      throw new GatewayRefusedError('gross_amount must be a whole number above 0 and the sum of the items');
    const token = randomUUID();
    const expiresAt = new Date(Date.now() + LIFETIME_MS);
    try {
      await this.dataSource.transaction(async (tx) => {
        const fields = { orderId, token, grossAmount: String(grossAmount), items, customer, expiresAt };
        await tx.insert(SimulatorTransaction, fields);
        await this.jobs.enqueue(tx, EXPIRE, { orderId }, { key: `${EXPIRE}:${orderId}`, runAt: expiresAt });
      });
    } catch (error) {
      if (violatedConstraint(error) !== 'simulator_transactions_pkey') throw error;
      throw new GatewayRefusedError('order_id was used before', { isOrderIdTaken: true });
    }
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  override async status(orderId: string): Promise<GatewayTransaction | null> {
    const transaction = await this.find({ orderId });
    return transaction === null || !isChosen(transaction) ? null : this.#answerOf(transaction);
  }

  override cancel(orderId: string): Promise<GatewayTransaction | null> {
    return this.#change(orderId, 'cancel');
  }

  override expire(orderId: string): Promise<GatewayTransaction | null> {
    return this.#change(orderId, 'expire');
  }

  /** What a payment page shows. */
  find(key: FindOptionsWhere<SimulatorTransaction>): Promise<SimulatorTransaction | null> {
    return this.dataSource.manager.findOneBy(SimulatorTransaction, key);
  }

  /**
   * Does what was chosen on a payment page, and waits a moment for the answer to its notification.
   * @returns false when the payment's state does not allow it; nothing is done then
   */
  async act(token: string, action: Action): Promise<boolean> {
    const isDone = await this.dataSource.transaction(async (tx) => {
      const transaction = await lock(tx, { token });
      if (transaction === null || !isAllowed(action, transaction)) return false;
      if (action.method !== undefined && mayBegin(transaction)) {
        const begun = { transactionId: randomUUID(), transactionTime: new Date(), settlementTime: null };
        Object.assign(transaction, action.method, begun);
      }
      if (action.to !== undefined) await this.#become(tx, transaction, action.to);
      else if (action.sends !== undefined) await this.#notify(tx, transaction, action.sends);
      return true;
    });
    if (isDone) await this.#waitForAnswers(token);
    return isDone;
  }

  /** @returns null when no method was chosen: the page then takes no payment any more, and no notification is sent */
  #change(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await lock(tx, { orderId });
      if (transaction === null) return null;
      const { transactionStatus } = transaction;
      if (!isChosen(transaction)) {
        if (transactionStatus === null)
          await tx.update(SimulatorTransaction, { orderId }, { transactionStatus: status });
        return null;
      }
      if (ACTIONS.get(status)?.from.includes(transaction.transactionStatus) !== true)
        throw new GatewayRefusedError(`a transaction in ${transactionStatus} does not become ${status}`);
      await this.#become(tx, transaction, status);
      return this.#answerOf(transaction);
    });
  }

  async #become(tx: EntityManager, transaction: SimulatorTransaction, status: TransactionStatus) {
    transaction.transactionStatus = status;
    if (status === 'settlement') transaction.settlementTime = new Date();
    if (status === 'deny' && transaction.fraudStatus !== null) transaction.fraudStatus = 'deny';
    await this.#notify(tx, transaction, 'status');
  }

  /** Saves a transaction with one more notification, and has that delivered. */
  async #notify(tx: EntityManager, transaction: SimulatorTransaction, kind: NotificationKind): Promise<void> {
    if (!isChosen(transaction)) throw new Error('a notification of no payment');
    const { orderId, transactionStatus, notifications } = transaction;
    const last = notifications.findLast((sent) => sent.kind === 'status');
    const status = kind === 'late' ? 'pending' : transactionStatus;
    const key = kind === 'bad-signature' ? 'not the server key' : this.env.payment.serverKey;
    const fresh = notificationBody(transaction, status, key);
    const body = kind === 'again' ? (last?.body ?? fresh) : fresh;
    const sent = { id: randomUUID(), kind, status, body, sentAt: new Date().toISOString(), answer: null };
    transaction.notifications = [...notifications, sent].slice(-KEPT_NOTIFICATIONS);
    await tx.save(SimulatorTransaction, transaction);
    await this.jobs.enqueue(tx, DELIVER, { orderId, id: sent.id }, { key: `${DELIVER}:${sent.id}` });
  }

  /** @throws Error without an answer or after a 5xx, so that the queue tries again */
  async #deliver(orderId: string, id: string): Promise<void> {
    const transaction = await this.find({ orderId });
    const sent = transaction?.notifications.find((notification) => notification.id === id);
    if (sent === undefined) return;
    const answer = await this.#post(sent);
    await this.dataSource.transaction(async (tx) => {
      const current = await lock(tx, { orderId });
      const notifications = current?.notifications.map((other) =>
        other.id === id ? { ...other, answer } : other,
      );
      if (notifications !== undefined) await tx.update(SimulatorTransaction, { orderId }, { notifications });
    });
    if (!/^HTTP [234]/.test(answer)) throw new Error(`a notification of the simulator got ${answer}`);
  }

  /** @returns what became of it, for people */
  async #post({ body }: SentNotification): Promise<string> {
    try {
      const response = await fetch(`${this.env.publicUrl}/api/products/payments`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
      });
      // Left unread it would hold its connection.
      await response.body?.cancel();
      return `HTTP ${response.status}`;
    } catch {
      return 'no answer';
    }
  }

  async #waitForAnswers(token: string): Promise<void> {
    const giveUpAt = Date.now() + ANSWER_WAIT_MS;
    while (Date.now() < giveUpAt) {
      const transaction = await this.find({ token });
      if (transaction?.notifications.every(({ answer }) => answer !== null) !== false) return;
      await delay(ANSWER_POLL_MS);
    }
  }

  #answerOf(transaction: Parameters<typeof gatewayAnswer>[0]): GatewayTransaction {
    return gatewayAnswer(transaction, this.env.payment.serverKey);
  }
}

/** Locks a transaction, so that of two clicks at once the second sees what the first did. */
function lock(
  tx: EntityManager,
  where: FindOptionsWhere<SimulatorTransaction>,
): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
