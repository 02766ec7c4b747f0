import { Client } from '../../support/client.js';
import type { TestDatabase } from '../../support/databases.js';
import { jobRows } from '../../support/jobs.js';
import { createProduct, ledger, letTimePass } from '../../support/products.js';
import { ADMIN } from '../../support/service.js';
import { Catalog, storedCatalog, wholeCatalog } from './catalog.js';
import { record } from './figures.js';
import { imageIdOf, type ExternalServices } from './external-services.js';
import { explained, Observer } from './observer.js';
import { Purchases } from './purchases.js';
import { Random } from './random.js';
import { Registrations } from './registrations.js';

interface Activity {
  step(): Promise<void>;
}

/** Of each kind, side by side; two registrations, for they are what most jobs come from. */
const CATALOGS = 2;
const PURCHASES = 2;
const QUEUE_DEADLINE_MS = 60_000;
/** Jobs that a process works at side by side. */
const JOBS_AT_ONCE = 4;

/** Customers, administrators and the gateway at work, and what they were told. */
export class Workload {
  readonly observer = new Observer();
  readonly #registrations: Registrations;
  readonly #catalogs: Catalog[];
  readonly #purchases: Purchases[];
  #running: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  private constructor(
    private readonly admin: Client,
    customers: readonly Client[],
    private readonly productId: number,
    private readonly external: ExternalServices,
    name: string,
  ) {
    this.#registrations = new Registrations(admin.url, this.observer);
    this.#catalogs = Array.from(
      { length: CATALOGS },
      (_, index) => new Catalog(admin, external, this.observer, new Random(`${name} catalog ${index}`)),
    );
    this.#purchases = customers.map(
      (customer, index) =>
        new Purchases(
          customer,
          productId,
          external.gateway,
          this.observer,
          new Random(`${name} orders ${index}`),
        ),
    );
  }

  /** @param url of a service that is up @param name of its randomness */
  static async prepare(url: string, external: ExternalServices, name: string): Promise<Workload> {
    const admin = new Client(url);
    await admin.post('/api/login').send(ADMIN).expect(200);
    const { id: productId } = await createProduct(admin);
    const customers = Array.from({ length: PURCHASES }, () => new Client(url));
    await Promise.all(
      customers.map((customer, index) =>
        customer.register({ email: `buyer-${index}@example.com` }).expect(201),
      ),
    );
    return new Workload(admin, customers, productId, external, name);
  }

  /** Starts every activity; they go on until `stop`. */
  start(): void {
    this.#isStopping = false;
    const activities: Activity[] = [
      this.#registrations,
      this.#registrations,
      ...this.#catalogs,
      ...this.#purchases,
    ];
    this.#running = Promise.all(
      activities.map(async (activity) => {
        while (!this.#isStopping) await activity.step();
      }),
    );
  }

  /** Starts no further request. @returns when every request has ended */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  /** How many answers said that something was done. */
  get acknowledged(): Readonly<
    Record<'registrations' | 'creates' | 'updates' | 'deletes' | 'orders' | 'notifications', number>
  > {
    const sum = (of: (catalog: Catalog) => number): number =>
      this.#catalogs.reduce((total, it) => total + of(it), 0);
    return {
      registrations: this.#registrations.acknowledged.length,
      creates: sum((catalog) => catalog.acknowledged.creates),
      updates: sum((catalog) => catalog.acknowledged.updates),
      deletes: sum((catalog) => catalog.acknowledged.deletes),
      orders: this.#purchases.reduce((total, it) => total + it.acknowledgedOrders, 0),
      notifications: this.#purchases.reduce((total, it) => total + it.acknowledgedNotifications, 0),
    };
  }

  /**
   * Compares everything that was acknowledged with what there is, once what was left unfinished has been finished.
   * @param kills how often something was killed, each of which may have sent the mails in hand twice
   */
  async verify(
    topic: string,
    database: Pick<TestDatabase, 'pool'>,
    kills: number,
    output: () => string,
  ): Promise<void> {
    const { observer } = this;
    const acknowledged = this.acknowledged;
    for (const purchases of this.#purchases) await purchases.settle();
    const lostAccounts = await this.#registrations.verify();
    // Twice: the second time it comes from memory.
    await wholeCatalog(this.admin, observer);
    const stored = await wholeCatalog(this.admin, observer);
    expect([...stored.values()]).toEqual(await storedCatalog(database));
    const shown = new Set([...stored.values()].flatMap(({ images }) => (images ?? []).map(imageIdOf)));
    let [lostProducts, resurrected, lostOrders, lostNotifications, inHistory, applied] = [0, 0, 0, 0, 0, 0];
    stored.delete(this.productId);
    for (const catalog of this.#catalogs) {
      const result = await catalog.verify(stored);
      lostProducts += result.lost;
      resurrected += result.resurrected;
    }
    for (const { name } of stored.values()) observer.violation(`an unknown product ${name}`);
    for (const purchases of this.#purchases) {
      const result = await purchases.verify(this.admin);
      lostOrders += result.lostOrders;
      lostNotifications += result.lostNotifications;
      inHistory += result.inHistory;
      applied += result.applied;
    }
    const { waiting, dead } = await this.#drain(database, shown);
    const held = await this.external.images();
    const orphaned = [...held.keys()].filter((id) => !shown.has(id)).length;
    const missing = [...shown].filter((id) => !held.has(id)).length;
    const mails = await this.#registrations.verifyCodes(this.external.smtp);
    const lost = lostAccounts + lostProducts + lostOrders + lostNotifications;
    record(topic, {
      'requests sent': observer.sent,
      'connections cut': observer.cut,
      'answers 503': observer.refused,
      ...Object.fromEntries(
        Object.entries(acknowledged).map(([kind, count]) => [`acknowledged ${kind}`, count]),
      ),
      'acknowledged writes lost': lost,
      'acknowledged deletions undone': resurrected,
      'images at the host that no product shows': orphaned,
      'images shown that no host has': missing,
      'one-time passwords due by mail': mails.due,
      'one-time passwords mailed': mails.left,
      'one-time passwords mailed again': mails.duplicated,
      'notifications in the history': inHistory,
      'notifications applied once': applied,
      'jobs left waiting': waiting,
      'jobs given up': dead,
      'slowest request ms': observer.slowestMs,
    });
    expect(explained(observer.violations, output())).toEqual([]);
    expect({ lost, resurrected, orphaned, missing, waiting, dead }).toEqual({
      lost: 0,
      resurrected: 0,
      orphaned: 0,
      missing: 0,
      waiting: 0,
      dead: 0,
    });
    expect(mails.left).toBe(mails.due);
    // At least once: a mail whose job could not be ticked off is sent again, with a new code.
    expect(mails.duplicated).toBeLessThanOrEqual(kills * JOBS_AT_ONCE);
    expect(await ledger(database)).toHaveLength(shown.size);
  }

  /** Waits until nothing is left to do; a minute passes at once for the images, as in `letTimePass`. */
  async #drain(
    database: Pick<TestDatabase, 'pool'>,
    shown: ReadonlySet<string>,
  ): Promise<{ waiting: number; dead: number }> {
    const deadline = Date.now() + QUEUE_DEADLINE_MS;
    for (;;) {
      await letTimePass(database);
      const jobs = await jobRows(database.pool);
      const dead = jobs.filter(({ attempts, max_attempts }) => attempts >= max_attempts).length;
      const waiting = jobs.length - dead;
      const isDone = waiting === 0 && (await ledger(database)).length === shown.size;
      if (isDone || Date.now() > deadline) return { waiting, dead };
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
