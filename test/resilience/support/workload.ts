import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Client } from '../../support/client.js';
import { readJobs } from '../../support/jobs.js';
import { createProduct, letTimePassForImagesAndJobs, readLedger } from '../../support/products.js';
import { signInAdmin } from '../../support/service.js';
import { until } from '../../support/wait.js';
import { CatalogChanges, readCatalog } from './catalog.js';
import type { Deployment } from './deployment.js';
import { parseImageId, readImageDigests } from './external-services.js';
import { Observer } from './observer.js';
import { Purchases } from './purchases.js';
import { Registrations } from './registrations.js';

/**
 * Maximum number of codes that one interruption of a job runner may send again: their mails were sent, but their jobs were not
 * completed. A runner mails two codes at a time, and graphile-worker fetches the next job while it still writes the result of
 * the previous job.
 */
const CODES_IN_DOUBT = 2 * 2;
/** Number of acknowledged writes after which the load counts as running. */
const RUNNING_WRITES = 30;
const RECOVERY_LIMIT_MS = 60_000;

interface WorkloadOptions {
  /** URL of a second process, which gets half of the activities. */
  readonly otherUrl?: string;
  /** Pause of each activity after a step. */
  readonly pauseMs?: number;
  readonly timeoutMs?: number;
}

/**
 * Activities of customers, administrators and the gateway, with a record of their changes. An acknowledged change must
 * exist completely. A change is in doubt if the connection broke or the response was 503: it must exist either
 * completely or not at all.
 */
export class Workload {
  readonly observer: Observer;
  readonly #registrations: Registrations[] = [];
  readonly #catalogChanges: CatalogChanges[] = [];
  readonly #purchases: Purchases[] = [];

  private constructor(
    private readonly deployment: Deployment,
    private readonly admin: Client,
    private readonly productId: number,
    private readonly options: WorkloadOptions,
  ) {
    this.observer = new Observer(options.timeoutMs);
  }

  /** @param url URL of a running service, or of the proxy in front of the service */
  static async prepare(
    deployment: Deployment,
    url: string = deployment.instances[0].url,
    options: WorkloadOptions = {},
  ): Promise<Workload> {
    const admin = await signInAdmin(url);
    const { id } = await createProduct(admin);
    const workload = new Workload(deployment, admin, id, options);
    await workload.#addActivities(url, 'buyer@example.com');
    await workload.#addActivities(options.otherUrl ?? url, 'other-buyer@example.com');
    return workload;
  }

  /** Adds one activity of each kind at a process, and registers the customer who places orders. */
  async #addActivities(url: string, email: string): Promise<void> {
    const { admin, deployment, observer, productId } = this;
    const customer = new Client(url);
    await customer.register({ email }).expect(201);
    this.#registrations.push(new Registrations(url, observer));
    this.#catalogChanges.push(new CatalogChanges(admin.clone(url), observer));
    this.#purchases.push(new Purchases(customer, productId, deployment.external.gateway, observer));
  }

  /** Runs all activities until an action ends or fails. */
  async runDuring(act: () => Promise<void>): Promise<void> {
    let isStopping = false;
    const activities = [...this.#registrations, ...this.#catalogChanges, ...this.#purchases];
    const running = Promise.all(
      activities.map(async (activity) => {
        while (!isStopping) {
          await activity.step();
          await delay(this.options.pauseMs ?? 0);
        }
      }),
    );
    try {
      await act();
    } finally {
      isStopping = true;
      await running;
    }
  }

  /** Runs the load before, during and after an action. Measures from the start of the action until the load stops. */
  async measureDuring(act: () => Promise<void>): Promise<void> {
    await this.runDuring(async () => {
      await this.waitForWrites(RUNNING_WRITES);
      this.observer.startMeasuring();
      await act();
      await this.waitForWrites(RUNNING_WRITES);
    });
  }

  /** Waits until the service has acknowledged this number of further writes. */
  async waitForWrites(count: number): Promise<void> {
    const target = this.observer.acknowledgedWrites + count;
    const isReached = () => this.observer.acknowledgedWrites >= target;
    await until(`${count} writes are acknowledged`, isReached, RECOVERY_LIMIT_MS);
  }

  /** Number of acknowledged product changes or orders of the least active activity. A run with a small number proves little. */
  get acknowledgedCountOfLeastActive(): number {
    return Math.min(
      ...[...this.#catalogChanges, ...this.#purchases].map((activity) => activity.acknowledgedCount),
    );
  }

  /**
   * Compares the acknowledged changes with the stored data after all unfinished work has ended.
   * @param interruptions number of times that a job runner was interrupted. Each may cause duplicates of the mails being sent
   */
  async verify(databaseUrl: string, interruptions: number): Promise<void> {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    pool.on('error', () => undefined); // The next statement reports a lost connection.
    try {
      await this.#verifyStoredData(pool, interruptions);
    } finally {
      await pool.end();
    }
    this.#expectNoViolation();
    // Every line of the log is JSON. Another line would be output of a library, such as a warning about listeners.
    expect(this.deployment.output()).not.toMatch(/^[^{\n]/m);
  }

  async #verifyStoredData(pool: pg.Pool, interruptions: number): Promise<void> {
    const { admin } = this;
    const { external, instances } = this.deployment;
    this.#expectNoViolation();
    for (const purchases of this.#purchases) await purchases.verify(admin);
    const listed = await readCatalog(admin);
    const { rows } = await pool.query<{ id: number; name: string }>(
      'SELECT id, name FROM products ORDER BY id',
    );
    expect([...listed.values()].map(({ id, name }) => ({ id, name }))).toEqual(rows);
    const shown = [...listed.values()].flatMap(({ images }) => (images ?? []).map(parseImageId));

    const isDone = async () => {
      await letTimePassForImagesAndJobs({ pool });
      return (await readJobs(pool)).length === 0 && (await readLedger({ pool })).length === shown.length;
    };
    await until('the jobs are done and only images that are shown are left', isDone, RECOVERY_LIMIT_MS);
    const digests = await readImageDigests(external.cloudinary, instances[0].dataDir);
    expect([...digests.keys()].toSorted()).toEqual(shown.toSorted());
    const verified = this.#catalogChanges.flatMap((changes) => changes.verify(listed, digests));
    // No `CatalogChanges` created the product that the customers buy.
    expect(new Set(listed.keys())).toEqual(new Set([this.productId, ...verified]));
    const { rows: users } = await pool.query<{ email: string }>('SELECT email FROM users');
    const stored = new Set(users.map(({ email }) => email));
    // Mails are sent at least once: a mail whose job was not completed is sent again with a new code.
    let sentAgain = 0;
    for (const registrations of this.#registrations)
      sentAgain += await registrations.verify(external.smtp, stored);
    expect(sentAgain).toBeLessThanOrEqual(interruptions * CODES_IN_DOUBT);
  }

  #expectNoViolation(): void {
    expect(this.observer.describeViolations(this.deployment.output())).toEqual([]);
  }
}
