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
  type TransactionStatus,
} from '../payment-gateway.js';
import { type Action, ACTIONS, isAllowed, paymentBegun } from './simulator-actions.js';
import { notificationOf, statusAnswerOf } from './simulator-messages.js';
import { isChosen, type NotificationKind, SimulatorTransaction } from './simulator-transaction.entity.js';

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
  readonly #serverKey: string;

  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {
    super();
    this.#serverKey = env.payment.serverKey;
  }

  onModuleInit(): void {
    this.jobs.handle<{ orderId: string }>(EXPIRE, async ({ orderId }) => {
      await this.#end(orderId, 'expire').catch((error: unknown) => {
        if (!(error instanceof GatewayRefusedError)) throw error; // otherwise it was paid, or ended before
      });
    });
    this.jobs.handle<{ orderId: string; id: string }>(
      DELIVER,
      ({ orderId, id }) => this.#deliver(orderId, id),
      { kind: 'payments' },
    );
  }

  override async createTransaction(request: TransactionRequest): Promise<PaymentPage> {
    const { orderId, grossAmount } = request;
    const token = randomUUID();
    const expiresAt = new Date(Date.now() + LIFETIME_MS);
    try {
      await this.dataSource.transaction(async (tx) => {
        const fields = { ...request, token, grossAmount: String(grossAmount), expiresAt };
        await tx.insert(SimulatorTransaction, fields);
        await this.jobs.enqueue(tx, EXPIRE, { orderId }, { key: `${EXPIRE}:${orderId}`, runAt: expiresAt });
      });
    } catch (error) {
      if (violatedConstraint(error) !== 'simulator_transactions_pkey') throw error;
      throw new GatewayRefusedError('order_id was used before', true);
    }
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  override async status(orderId: string): Promise<GatewayTransaction | null> {
    const transaction = await this.find({ orderId });
    return transaction && isChosen(transaction) ? statusAnswerOf(transaction, this.#serverKey) : null;
  }

  override cancel(orderId: string): Promise<GatewayTransaction | null> {
    return this.#end(orderId, 'cancel');
  }

  override expire(orderId: string): Promise<GatewayTransaction | null> {
    return this.#end(orderId, 'expire');
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
      Object.assign(transaction, paymentBegun(action, transaction));
      if (action.to !== undefined) await this.#become(tx, transaction, action.to);
      else if (action.sends !== undefined) await this.#notify(tx, transaction, action.sends);
      return true;
    });
    if (isDone) await this.#waitForAnswers(token);
    return isDone;
  }

  /** @returns null when no method was chosen: the page then takes no payment any more, and no notification is sent */
  #end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await lock(tx, { orderId });
      if (transaction === null) return null;
      if (!isChosen(transaction)) {
        transaction.transactionStatus ??= status;
        await tx.save(SimulatorTransaction, transaction);
        return null;
      }
      if (ACTIONS.get(status)?.from.includes(transaction.transactionStatus) !== true)
        throw new GatewayRefusedError(`${transaction.transactionStatus} does not become ${status}`);
      await this.#become(tx, transaction, status);
      return statusAnswerOf(transaction, this.#serverKey);
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
    const status = kind === 'late' ? 'pending' : transactionStatus;
    const key = kind === 'bad-signature' ? 'not the server key' : this.#serverKey;
    const last = kind === 'again' ? notifications.findLast((other) => other.kind === 'status') : undefined;
    const body = last?.body ?? JSON.stringify(notificationOf(transaction, status, key));
    const sent = { id: randomUUID(), kind, status, body, sentAt: new Date().toISOString(), answer: null };
    transaction.notifications = [...notifications, sent].slice(-KEPT_NOTIFICATIONS);
    await tx.save(SimulatorTransaction, transaction);
    await this.jobs.enqueue(tx, DELIVER, { orderId, id: sent.id }, { key: `${DELIVER}:${sent.id}` });
  }

  /** @throws Error without an answer or after a 5xx, so that the queue tries again */
  async #deliver(orderId: string, id: string): Promise<void> {
    const sent = (await this.find({ orderId }))?.notifications.find((other) => other.id === id);
    if (sent === undefined) return;
    const answer = await this.#post(sent.body);
    await this.dataSource.transaction(async (tx) => {
      const notifications = (await lock(tx, { orderId }))?.notifications ?? [];
      const answered = notifications.map((other) => (other.id === id ? { ...other, answer } : other));
      await tx.update(SimulatorTransaction, { orderId }, { notifications: answered });
    });
    if (!/^HTTP [234]/.test(answer)) throw new Error(`a notification of the simulator got ${answer}`);
  }

  /** @returns what became of it, for people */
  async #post(body: string): Promise<string> {
    try {
      const response = await fetch(`${this.env.publicUrl}/api/products/payments`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
      });
      await response.body?.cancel(); // left unread it would hold its connection
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
}

/** Locks a transaction, so that of two clicks at once the second sees what the first did. */
function lock(
  tx: EntityManager,
  where: FindOptionsWhere<SimulatorTransaction>,
): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
