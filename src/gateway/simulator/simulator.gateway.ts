import type { OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, type EntityManager, type FindOptionsWhere, IsNull } from 'typeorm';
import { violatedConstraint } from '../../common/database-errors.js';
import type { Env } from '../../config/env.js';
import type { JobsService } from '../../jobs/jobs.service.js';
import { parseTransaction } from '../midtrans.messages.js';
import {
  GatewayRejectedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type RefundRequest,
  type TransactionRequest,
} from '../payment-gateway.js';
import {
  type Action,
  ACTIONS,
  addRefund,
  performAction,
  isAllowed,
  isRefundable,
} from './simulator-actions.js';
import { SimulatorTransaction } from './simulator-transaction.entity.js';

const EXPIRE = 'simulator-expire';
const DELIVER = 'simulator-deliver';
const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Deadline of the real gateway. */
const DELIVERY_DEADLINE_MS = 15_000;
const MAX_NOTIFICATIONS = 20;
/** A click waits this long for the shop's response, so that the page can show the response. */
const RESPONSE_WAIT_MS = 2_000;
const RESPONSE_POLL_MS = 20;

type Key = FindOptionsWhere<SimulatorTransaction>;
type Delivery = Readonly<Record<'orderId' | 'id', string>>;

/**
 * Payment gateway without real money. The result of a payment is chosen on the payment page. The service receives signed
 * notifications over HTTP, as from the real gateway. A change and its notification are stored in one transaction.
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
      throw new GatewayRejectedError('order_id was used before', true);
    }
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  override async status(orderId: string): Promise<GatewayTransaction | null> {
    const transaction = await this.find({ orderId });
    if (transaction?.payment == null) return null;
    const fields = transaction.toMessage(transaction.status, this.env.payment.serverKey);
    return parseTransaction({ httpStatus: 200, fields, text: JSON.stringify(fields) });
  }

  override async end(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    // Before a payment method is chosen, only the page ends. The gateway sends no notification.
    const unchosen = { orderId, status: IsNull() };
    const { affected } = await this.dataSource.manager.update(SimulatorTransaction, unchosen, { status });
    if (affected === 0) await this.#act({ orderId }, status);
    return this.status(orderId);
  }

  override async refund(orderId: string, request: RefundRequest): Promise<GatewayTransaction> {
    await this.#change({ orderId }, (transaction) => {
      const isRepeated = transaction.payment?.refunds?.some(
        ({ refund_key }) => refund_key === request.refundKey,
      );
      if (isRepeated === true) return false;
      if (!isRefundable(transaction, request.amount))
        throw new GatewayRejectedError('the payment cannot be refunded');
      addRefund(transaction, request);
      return true;
    });
    const transaction = await this.status(orderId);
    if (transaction === null) throw new GatewayRejectedError('there is no payment');
    return transaction;
  }

  find(key: Key): Promise<SimulatorTransaction | null> {
    return this.dataSource.manager.findOneBy(SimulatorTransaction, key);
  }

  /**
   * Performs an action of a payment page and waits for the response to its notification.
   * @returns false, with nothing changed, if the page is unknown or the status does not allow the action
   */
  async act(token: string, action: string): Promise<boolean> {
    const isPerformed = await this.#act({ token }, action);
    for (let waited = 0; isPerformed && waited < RESPONSE_WAIT_MS; waited += RESPONSE_POLL_MS) {
      const transaction = await this.find({ token });
      if (transaction?.notifications.every(({ answer }) => answer !== null) === true) break;
      await delay(RESPONSE_POLL_MS);
    }
    return isPerformed;
  }

  #act(key: Key, name: string): Promise<boolean> {
    const action = ACTIONS.get(name);
    if (action === undefined) return Promise.resolve(false);
    const change = (transaction: SimulatorTransaction): boolean => {
      if (!isAllowed(action, transaction)) return false;
      performAction(action, transaction);
      return true;
    };
    return this.#change(key, change, action.defect);
  }

  /**
   * Changes a transaction and enqueues a notification about it.
   * @param change returns false if it changed nothing
   */
  #change(
    key: Key,
    change: (transaction: SimulatorTransaction) => boolean,
    defect?: Action['defect'],
  ): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await lock(tx, key);
      if (transaction === null || !change(transaction)) return false;
      const { orderId, notifications } = transaction;
      const id = randomUUID();
      const status = defect === 'late' ? 'pending' : transaction.status;
      const serverKey = defect === 'bad-signature' ? 'another key' : this.env.payment.serverKey;
      const body = JSON.stringify(transaction.toMessage(status, serverKey));
      const sent = { id, status, body, sentAt: new Date().toISOString(), answer: null };
      transaction.notifications = [...notifications, sent].slice(-MAX_NOTIFICATIONS);
      await tx.save(transaction);
      await this.jobs.enqueue(tx, DELIVER, { orderId, id }, { key: `${DELIVER}:${id}` });
      return true;
    });
  }

  /** @throws Error without a response or after a 5xx, so that the job is retried */
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
    await response.body?.cancel(); // An unread body would occupy the connection.
    const answer = `HTTP ${response.status}`;
    await this.dataSource.transaction(async (tx) => {
      const notifications = (await lock(tx, { orderId }))?.notifications ?? [];
      const answered = notifications.map((other) => (other.id === id ? { ...other, answer } : other));
      await tx.update(SimulatorTransaction, { orderId }, { notifications: answered });
    });
    if (response.status >= 500) throw new Error(`a notification of the simulator got ${answer}`);
  }
}

function lock(tx: EntityManager, where: Key): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
