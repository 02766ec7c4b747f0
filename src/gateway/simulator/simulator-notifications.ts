import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager, FindOptionsWhere } from 'typeorm';
import type { Env } from '../../config/env.js';
import type { JobsService } from '../../jobs/jobs.service.js';
import type { NotificationDefect } from './simulator-actions.js';
import { SimulatorTransaction } from './simulator-transaction.entity.js';

const DELIVER = 'simulator-deliver';
/** Deadline of the real gateway. */
const DELIVERY_DEADLINE_MS = 15_000;
const MAX_NOTIFICATIONS = 20;

/** `orderId` is the id of the payment attempt, and `id` that of the notification. */
type Delivery = Readonly<Record<'orderId' | 'id', string>>;

/** Signed notifications to the shop over HTTP, as from the real gateway. */
export class SimulatorNotifications {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {}

  registerJob(): void {
    this.jobs.handle<Delivery>(DELIVER, (delivery) => this.#deliver(delivery), { kind: 'payments' });
  }

  /** Stores a notification about a locked transaction, together with changes of the transaction, and enqueues it. */
  async add(
    tx: EntityManager,
    transaction: SimulatorTransaction,
    defect?: NotificationDefect,
  ): Promise<void> {
    const id = randomUUID();
    const status = defect === 'late' ? 'pending' : transaction.status;
    const serverKey = defect === 'bad-signature' ? 'another key' : this.env.payment.serverKey;
    const body = JSON.stringify(transaction.toMessage(status, serverKey));
    const added = { id, status, body, sentAt: new Date().toISOString(), answer: null };
    transaction.notifications = [...transaction.notifications, added].slice(-MAX_NOTIFICATIONS);
    await tx.save(transaction);
    const delivery: Delivery = { orderId: transaction.attemptId, id };
    await this.jobs.enqueue(tx, DELIVER, delivery, { key: `${DELIVER}:${id}` });
  }

  /** @throws Error without a response or after a 5xx, so that the job is retried */
  async #deliver({ orderId: attemptId, id }: Delivery): Promise<void> {
    const transaction = await this.dataSource.manager.findOneBy(SimulatorTransaction, { attemptId });
    const notification = transaction?.notifications.find((other) => other.id === id);
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
      const answered = notifications.map((other) => (other.id === id ? { ...other, answer } : other));
      await tx.update(SimulatorTransaction, { attemptId }, { notifications: answered });
    });
    if (response.status >= 500) throw new Error(`a notification of the simulator got ${answer}`);
  }
}

export function lockTransaction(
  tx: EntityManager,
  where: FindOptionsWhere<SimulatorTransaction>,
): Promise<SimulatorTransaction | null> {
  return tx.findOne(SimulatorTransaction, { where, lock: { mode: 'pessimistic_write' } });
}
