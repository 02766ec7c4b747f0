import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type DeliveryAttempt, SimulatorNotification } from './simulator-notification.entity.js';
import { SimulatorTransaction } from './simulator-transaction.entity.js';

type NewTransaction = Pick<
  SimulatorTransaction,
  'orderId' | 'token' | 'grossAmount' | 'items' | 'customer' | 'expiresAt'
>;
type NewNotification = Pick<
  SimulatorNotification,
  'orderId' | 'kind' | 'transactionStatus' | 'body' | 'nextAttemptAt'
>;
/** How a transaction is addressed: by the shop, or by the customer's page. */
export type TransactionKey = { readonly orderId: string } | { readonly token: string };

@Injectable()
export class SimulatorRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(key: TransactionKey): Promise<SimulatorTransaction | null> {
    return this.dataSource.manager.findOneBy(SimulatorTransaction, key);
  }

  /** @returns false when the order id was used before */
  async insert(tx: EntityManager, transaction: NewTransaction): Promise<boolean> {
    const { orderId, token, grossAmount, items, customer, expiresAt } = transaction;
    const rows = await tx.query<unknown[]>(
      `INSERT INTO simulator_transactions (order_id, token, gross_amount, items, customer, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (order_id) DO NOTHING RETURNING order_id`,
      [orderId, token, grossAmount, JSON.stringify(items), JSON.stringify(customer), expiresAt],
    );
    return rows.length > 0;
  }

  /** Locks a transaction, so that of two clicks at once the second sees what the first did. */
  lock(tx: EntityManager, key: TransactionKey): Promise<SimulatorTransaction | null> {
    return tx.findOne(SimulatorTransaction, { where: key, lock: { mode: 'pessimistic_write' } });
  }

  async save(tx: EntityManager, transaction: SimulatorTransaction): Promise<void> {
    await tx.save(SimulatorTransaction, transaction);
  }

  /** The notifications of an order, oldest first. */
  notifications(orderId: string): Promise<SimulatorNotification[]> {
    return this.dataSource.manager.find(SimulatorNotification, { where: { orderId }, order: { id: 'ASC' } });
  }

  notification(id: string): Promise<SimulatorNotification | null> {
    return this.dataSource.manager.findOneBy(SimulatorNotification, { id });
  }

  /** The latest notification that told of a change. */
  lastNotification(tx: EntityManager, orderId: string): Promise<SimulatorNotification | null> {
    return tx.findOne(SimulatorNotification, { where: { orderId, kind: 'status' }, order: { id: 'DESC' } });
  }

  /** @returns its id */
  async addNotification(tx: EntityManager, notification: NewNotification): Promise<string> {
    const { id } = await tx.save(SimulatorNotification, tx.create(SimulatorNotification, notification));
    return id;
  }

  async addAttempt(
    tx: EntityManager,
    id: string,
    attempt: DeliveryAttempt,
    nextAttemptAt: Date | null,
  ): Promise<void> {
    await tx.query(
      'UPDATE simulator_notifications SET attempts = attempts || $2::jsonb, next_attempt_at = $3 WHERE id = $1',
      [id, JSON.stringify([attempt]), nextAttemptAt],
    );
  }

  /** Whether a notification of the order has not been tried yet. */
  async hasUntried(orderId: string): Promise<boolean> {
    const rows = await this.dataSource.query<{ exists: boolean }[]>(
      `SELECT EXISTS (SELECT FROM simulator_notifications WHERE order_id = $1 AND attempts = '[]') AS exists`,
      [orderId],
    );
    return rows[0]?.exists === true;
  }
}
