import { Injectable, type OnModuleInit } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { failures } from '../../common/errors.js';
import { Env } from '../../config/env.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { TransactionRequest } from '../payment-gateway.js';
import { type ActionName, ACTIONS, isAllowed, type SendAction, type StateAction } from './actions.js';
import { notificationBody, withBadSignature } from './notification-body.js';
import type { SimulatorNotification } from './simulator-notification.entity.js';
import { SimulatorNotifierService } from './simulator-notifier.service.js';
import {
  type ChosenTransaction,
  isChosen,
  type SimulatorTransaction,
} from './simulator-transaction.entity.js';
import { SimulatorRepository } from './simulator.repository.js';
import { mayBecome, mayStartPayment, type TransactionStatus } from './transitions.js';

const EXPIRE = 'simulator-expire';

interface ExpirePayload {
  readonly orderId: string;
}

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** The simulated gateway's account book: every change and the notification of it are one database transaction. */
@Injectable()
export class SimulatorService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly simulator: SimulatorRepository,
    private readonly notifier: SimulatorNotifierService,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    if (this.env.payment.gateway === 'simulator')
      this.jobs.handle<ExpirePayload>(EXPIRE, async ({ orderId }) => {
        await this.change(orderId, 'expire');
      });
  }

  /** @returns the token of the payment page; null when the order id was used before */
  create(request: TransactionRequest): Promise<string | null> {
    const { orderId, grossAmount, items, customer } = request;
    const token = randomUUID();
    const expiresAt = new Date(Date.now() + LIFETIME_MS);
    const transaction = { orderId, token, grossAmount: String(grossAmount), items, customer, expiresAt };
    return this.dataSource.transaction(async (tx) => {
      if (!(await this.simulator.insert(tx, transaction))) return null;
      const payload: ExpirePayload = { orderId };
      await this.jobs.enqueue(tx, EXPIRE, payload, {
        key: `${EXPIRE}:${orderId}`,
        runAt: expiresAt,
      });
      return token;
    });
  }

  find(orderId: string): Promise<SimulatorTransaction | null> {
    return this.simulator.find({ orderId });
  }

  /**
   * Changes a payment for the shop or the clock.
   * @returns the transaction as it is now, and whether it was changed; null when no method was chosen
   */
  change(
    orderId: string,
    status: 'cancel' | 'expire',
  ): Promise<{ transaction: ChosenTransaction; isChanged: boolean } | null> {
    return this.dataSource.transaction(async (tx) => {
      const transaction = await this.simulator.lock(tx, { orderId });
      if (transaction === null) return null;
      if (!isChosen(transaction)) {
        // The gateway knows of no payment, but nobody is to pay on this page any more.
        transaction.transactionStatus = status;
        await this.simulator.save(tx, transaction);
        return null;
      }
      const isChanged = mayBecome(transaction.transactionStatus, status);
      if (isChanged) await this.#apply(tx, transaction, status);
      return { transaction, isChanged };
    });
  }

  /**
   * What a payment page shows.
   * @throws Failure 404 for an unknown token
   */
  async page(
    token: string,
  ): Promise<{ transaction: SimulatorTransaction; notifications: SimulatorNotification[] }> {
    const transaction = isUUID(token) ? await this.simulator.find({ token }) : null;
    if (transaction === null) throw failures.notFound();
    return { transaction, notifications: await this.simulator.notifications(transaction.orderId) };
  }

  /**
   * Does what was chosen on a payment page, once, and waits a moment for the answer to its notification.
   * @returns false when the payment's state does not allow it; nothing is done then
   * @throws Failure 404 for an unknown token
   */
  async act(token: string, name: ActionName): Promise<boolean> {
    if (!isUUID(token)) throw failures.notFound();
    const orderId = await this.dataSource.transaction(async (tx) => {
      const transaction = await this.simulator.lock(tx, { token });
      if (transaction === null) throw failures.notFound();
      const action = ACTIONS[name];
      if (!isAllowed(action, transaction, new Date())) return null;
      if ('sends' in action) await this.#send(tx, transaction, action);
      else await this.#perform(tx, transaction, action);
      return transaction.orderId;
    });
    if (orderId === null) return false;
    await this.notifier.waitForAnswers(orderId);
    return true;
  }

  async #perform(tx: EntityManager, transaction: SimulatorTransaction, action: StateAction): Promise<void> {
    const now = new Date();
    if (action.begins !== undefined && mayStartPayment(transaction, now)) {
      const { paymentType, hasFraudStatus, details } = action.begins;
      Object.assign(transaction, {
        transactionId: randomUUID(),
        paymentType,
        paymentDetails: details(),
        fraudStatus: hasFraudStatus ? 'accept' : null,
        transactionTime: now,
        settlementTime: null,
        transactionStatus: action.to,
      } satisfies Partial<SimulatorTransaction>);
    }
    await this.#apply(tx, transaction, action.to);
  }

  /** Writes a payment's new status and tells of it. */
  async #apply(
    tx: EntityManager,
    transaction: SimulatorTransaction,
    status: TransactionStatus,
  ): Promise<void> {
    transaction.transactionStatus = status;
    if (status === 'settlement') transaction.settlementTime = new Date();
    if (status === 'deny' && transaction.fraudStatus !== null) transaction.fraudStatus = 'deny';
    await this.simulator.save(tx, transaction);
    await this.#notify(tx, transaction, status, 'status');
  }

  async #send(tx: EntityManager, transaction: SimulatorTransaction, { sends }: SendAction): Promise<void> {
    const { orderId } = transaction;
    if (sends === 'late') {
      await this.#notify(tx, transaction, 'pending', sends);
      return;
    }
    const last = await this.simulator.lastNotification(tx, orderId);
    if (last === null) throw new Error('a payment without a notification');
    const { transactionStatus } = last;
    const body = sends === 'bad-signature' ? withBadSignature(last.body) : last.body;
    await this.notifier.send(tx, { orderId, kind: sends, transactionStatus, body });
  }

  async #notify(
    tx: EntityManager,
    transaction: SimulatorTransaction,
    status: TransactionStatus,
    kind: SimulatorNotification['kind'],
  ): Promise<void> {
    if (!isChosen(transaction)) throw new Error('a notification of no payment');
    const body = notificationBody(transaction, status, this.env.payment.serverKey);
    await this.notifier.send(tx, { orderId: transaction.orderId, kind, transactionStatus: status, body });
  }
}
