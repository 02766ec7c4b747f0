import type { OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, type EntityManager, type FindOptionsWhere, IsNull } from 'typeorm';
import { violatedConstraint } from '../../common/database-errors.js';
import type { Env } from '../../config/env.js';
import type { JobsService } from '../../jobs/jobs.service.js';
import { transactionOf } from '../midtrans.messages.js';
import {
  GatewayRefusedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type TransactionRequest,
} from '../payment-gateway.js';
import { ACTIONS, carryOut, isAllowed } from './simulator-actions.js';
import { SimulatorTransaction } from './simulator-transaction.entity.js';

const EXPIRE = 'simulator-expire';
const DELIVER = 'simulator-deliver';
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** As the real gateway's. */
const DELIVERY_DEADLINE_MS = 15_000;
const KEPT_NOTIFICATIONS = 20;
/** A click waits so long to show the answer to what it sent. */
const ANSWER_WAIT_MS = 2_000;
const ANSWER_POLL_MS = 20;

type Key = FindOptionsWhere<SimulatorTransaction>;
type Delivery = Readonly<Record<'orderId' | 'id', string>>;

/**
 * A payment gateway that takes no money: its page lets one choose what becomes of a payment, and the service hears of
 * it as from the real one, over HTTP and signed. Every change and its notification are one database transaction.
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
    this.jobs.handle<{ orderId: string }>(EXPIRE, ({ orderId }) => this.end(orderId, 'expire'));
    this.jobs.handle<Delivery>(DELIVER, (delivery) => this.#deliver(delivery), { kind: 'payments' });
  }

  override async createTransaction(request: TransactionRequest): Promise<PaymentPage> {
    const { orderId } = request;
    const token = randomUUID();
    const expiresAt = new Date(Date.now() + LIFETIME_MS);
    try {
      await this.dataSource.transaction(async (tx) => {
        const fields = { ...request, token, expiresAt, grossAmount: String(request.grossAmount) };
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
    if (transaction?.payment == null) return null;
    const fields = transaction.message(transaction.status, this.env.payment.serverKey);
    return transactionOf({ httpStatus: 200, fields, text: JSON.stringify(fields) });
  }

  override async end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    // A page on which no method was chosen takes no payment any more, and no notification is sent.
    const unchosen = { orderId, status: IsNull() };
    const { affected } = await this.dataSource.manager.update(SimulatorTransaction, unchosen, { status });
    if (affected === 0) await this.#act({ orderId }, status);
    return this.status(orderId);
  }

  /** What a payment page shows. */
  find(key: Key): Promise<SimulatorTransaction | null> {
    return this.dataSource.manager.findOneBy(SimulatorTransaction, key);
  }

  /**
   * Does what was chosen on a payment page, and waits a moment for the answer to its notification.
   * @returns false when there is no such page or the payment's state does not allow it; nothing is done then
   */
  async act(token: string, action: string): Promise<boolean> {
    const isDone = await this.#act({ token }, action);
    for (let waited = 0; isDone && waited < ANSWER_WAIT_MS; waited += ANSWER_POLL_MS) {
      const transaction = await this.find({ token });
      if (transaction?.notifications.every(({ answer }) => answer !== null) === true) break;
      await delay(ANSWER_POLL_MS);
    }
    return isDone;
  }

  /** Saves a transaction as an action makes it, with one more notification, and has that delivered. */
  #act(key: Key, name: string): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await lock(tx, key);
      const action = ACTIONS.get(name);
      if (transaction === null || action === undefined || !isAllowed(action, transaction)) return false;
      carryOut(action, transaction);
      const { orderId, notifications } = transaction;
      const id = randomUUID();
      const status = action.sends === 'late' ? 'pending' : transaction.status;
      const serverKey = action.sends === 'bad-signature' ? 'another key' : this.env.payment.serverKey;
      const body = JSON.stringify(transaction.message(status, serverKey));
      const sent = { id, status, body, sentAt: new Date().toISOString(), answer: null };
      transaction.notifications = [...notifications, sent].slice(-KEPT_NOTIFICATIONS);
      await tx.save(transaction);
      await this.jobs.enqueue(tx, DELIVER, { orderId, id }, { key: `${DELIVER}:${id}` });
      return true;
    });
  }

  /** @throws Error without an answer or after a 5xx, so that the queue tries again */
  async #deliver({ orderId, id }: Delivery): Promise<void> {
    const sent = (await this.find({ orderId }))?.notifications.find((other) => other.id === id);
    if (sent === undefined) return;
    const response = await fetch(`${this.env.publicUrl}/api/products/payments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: sent.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
    });
    await response.body?.cancel(); // left unread it would hold its connection
    const answer = `HTTP ${response.status}`;
    await this.dataSource.transaction(async (tx) => {
      const notifications = (await lock(tx, { orderId }))?.notifications ?? [];
      const answered = notifications.map((other) => (other.id === id ? { ...other, answer } : other));
      await tx.update(SimulatorTransaction, { orderId }, { notifications: answered });
    });
    if (response.status >= 500) throw new Error(`a notification of the simulator got ${answer}`);
  }
}

/** Locks a transaction, so that of two clicks at once the second sees what the first did. */
function lock(tx: EntityManager, where: Key): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
