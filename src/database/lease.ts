import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type EntityManager, type EntityTarget, type FindOptionsWhere, Not, Raw } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { isDatabaseUnavailable } from '../common/errors/error-info.js';

/** Time that remains after the deadline of the calls in order to store their result. */
const STORE_MS = 5_000;
const POLL_MS = 250;

/** Columns `claim_id` and `claimed_at` of a row for which one holder at a time calls an external service. */
interface Leasable {
  leaseId: string | null;
  leasedAt: Date | null;
}

/**
 * Right of one request or job, in any process, to call an external service for a row. A lease expires if its holder dies.
 * PostgreSQL measures the time, because the clocks of two machines differ.
 */
export class Lease<Row extends Leasable> {
  /** Condition on `leasedAt`: nobody has the lease. */
  readonly #free;

  /**
   * @param callsMs deadline of all calls that a holder makes
   * @param holders largest number of holders in turn until there is a result, if each of them uses its whole time
   */
  constructor(
    private readonly entity: EntityTarget<Row>,
    private readonly callsMs: number,
    private readonly holders = 1,
  ) {
    const seconds = (callsMs + STORE_MS) / 1000;
    this.#free = Raw(
      (column) => `(${column} IS NULL OR ${column} <= clock_timestamp() - make_interval(secs => ${seconds}))`,
    );
  }

  /** Returns the columns of a lease that begins now. */
  start() {
    return { leaseId: randomUUID(), leasedAt: () => 'clock_timestamp()' };
  }

  /** Takes the lease of a row. Returns the id of the lease; null if the row does not exist or another holder has the lease. */
  async take(manager: EntityManager, where: FindOptionsWhere<Row>): Promise<string | null> {
    const lease = this.start();
    const free = { ...where, leasedAt: this.#free };
    const { affected } = await manager.update(this.entity, free, lease as QueryDeepPartialEntity<Row>);
    return affected === 1 ? lease.leaseId : null;
  }

  /** Polls until a holder has stored a result, the lease has ended, or all calls should have ended. Null means no result. */
  async waitForResult<T>(
    manager: EntityManager,
    where: FindOptionsWhere<Row>,
    readResult: () => Promise<T | null>,
  ): Promise<T | null> {
    const deadline = performance.now() + this.holders * this.callsMs;
    for (;;) {
      // Read the lease first: a holder stores the result and ends the lease at the same time.
      const isLeased = await manager.existsBy(this.entity, { ...where, leasedAt: Not(this.#free) });
      const result = await readResult();
      if (result !== null || !isLeased || performance.now() >= deadline) return result;
      await delay(POLL_MS);
    }
  }

  /**
   * Ends a lease and changes the row. Returns false, with nothing changed, if the row no longer meets the condition, or if another
   * holder has taken the lease.
   */
  async end(
    manager: EntityManager,
    where: FindOptionsWhere<Row>,
    leaseId: string,
    change: QueryDeepPartialEntity<Row> = {},
  ): Promise<boolean> {
    const held = { ...where, leaseId };
    const ended = { ...change, leaseId: null, leasedAt: null } as QueryDeepPartialEntity<Row>;
    const { affected } = await manager.update(this.entity, held, ended);
    return affected === 1;
  }

  /** Ends a lease after an error. If the database is unavailable, leaves the lease to expire: ending it would hide the error. */
  async endAfterError(
    manager: EntityManager,
    where: FindOptionsWhere<Row>,
    leaseId: string,
    error: unknown,
  ): Promise<void> {
    if (!isDatabaseUnavailable(error)) await this.end(manager, where, leaseId);
  }
}
