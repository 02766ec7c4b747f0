import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { Env } from '../../config/env.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { nextAttemptDelay } from './retry-policy.js';
import type { DeliveryAttempt, SimulatorNotification } from './simulator-notification.entity.js';
import { SimulatorRepository } from './simulator.repository.js';

const DELIVER = 'simulator-deliver';

interface DeliverPayload {
  readonly notificationId: string;
}

/** The gateway waits no longer for an answer. */
const DELIVERY_DEADLINE_MS = 15_000;
/** How long a click waits to show the answer to what it sent. */
const ANSWER_WAIT_MS = 2000;
const ANSWER_POLL_MS = 20;

/** Sends notifications to the service's own public address, as durable jobs, and again as the gateway does. */
@Injectable()
export class SimulatorNotifierService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly simulator: SimulatorRepository,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    // What a simulator left in the queue must not reach a shop that has a real gateway.
    if (this.env.payment.gateway === 'simulator')
      this.jobs.handle<DeliverPayload>(DELIVER, ({ notificationId }) => this.#deliver(notificationId), {
        kind: 'payments',
      });
  }

  /** Queues a notification for delivery at once. */
  async send(
    tx: EntityManager,
    notification: Pick<SimulatorNotification, 'orderId' | 'kind' | 'transactionStatus' | 'body'>,
  ): Promise<void> {
    const id = await this.simulator.addNotification(tx, { ...notification, nextAttemptAt: new Date() });
    await this.#enqueue(tx, id);
  }

  /** Waits, not for long, until everything sent for an order has been tried once. */
  async waitForAnswers(orderId: string): Promise<void> {
    const giveUpAt = Date.now() + ANSWER_WAIT_MS;
    while (Date.now() < giveUpAt && (await this.simulator.hasUntried(orderId))) await delay(ANSWER_POLL_MS);
  }

  async #enqueue(tx: EntityManager, notificationId: string, runAt?: Date): Promise<void> {
    const payload: DeliverPayload = { notificationId };
    await this.jobs.enqueue(tx, DELIVER, payload, {
      key: `${DELIVER}:${notificationId}`,
      ...(runAt !== undefined && { runAt }),
    });
  }

  async #deliver(notificationId: string): Promise<void> {
    const notification = await this.simulator.notification(notificationId);
    if (!notification?.nextAttemptAt) return;
    const attempt = await this.#post(notification.body);
    const gap = nextAttemptDelay(notification.attempts.length + 1, attempt.status, Math.random());
    const nextAttemptAt = gap === null ? null : new Date(Date.now() + gap);
    await this.dataSource.transaction(async (tx) => {
      await this.simulator.addAttempt(tx, notificationId, attempt, nextAttemptAt);
      if (nextAttemptAt !== null) await this.#enqueue(tx, notificationId, nextAttemptAt);
    });
  }

  async #post(body: string): Promise<DeliveryAttempt> {
    const at = new Date().toISOString();
    try {
      const response = await fetch(`${this.env.publicUrl}/api/products/payments`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(DELIVERY_DEADLINE_MS),
      });
      // Nobody reads it; left alone it would hold its connection.
      await response.body?.cancel();
      return { at, status: response.status, problem: null };
    } catch (error) {
      return { at, status: null, problem: problemOf(error) };
    }
  }
}

function problemOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `no answer within ${DELIVERY_DEADLINE_MS / 1000} seconds`;
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
    ? `no connection (${cause.code})`
    : 'no connection';
}
