import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../support/client.js';
import type { TestDatabase } from '../../support/databases.js';
import { jobRows } from '../../support/jobs.js';
import { createProduct, ledger, letTimePass } from '../../support/products.js';
import type { ServicePlace } from '../../support/service-process.js';
import { until } from '../../support/wait.js';
import { Catalog, wholeCatalog } from './catalog.js';
import { imageIdOf, type ExternalServices } from './external-services.js';
import { Observer } from './observer.js';
import { Purchases } from './purchases.js';
import { Registrations } from './registrations.js';

/**
 * Mails that a process may have sent without their jobs being ticked off: four are sent at a time, and graphile-worker
 * takes the next job while it still writes the result of the one before.
 */
const MAILS_IN_DOUBT = 2 * 4;

/**
 * Customers, administrators and the gateway at work, and what they were told. A request ends in one of two ways. It was
 * acknowledged: from then on it must be found, whole. Or it is in doubt, because the connection broke or the answer was
 * a 503: then it may have happened or not, but not in part.
 */
export class Workload {
  readonly observer = new Observer();
  readonly #registrations: Registrations;
  readonly #catalogs: readonly Catalog[];
  readonly #purchases: readonly Purchases[];
  #running: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  private constructor(
    private readonly admin: Client,
    customers: readonly Client[],
    private readonly productId: number,
    private readonly external: ExternalServices,
  ) {
    this.#registrations = new Registrations(admin.url, this.observer);
    this.#catalogs = [new Catalog(admin, this.observer), new Catalog(admin, this.observer)];
    this.#purchases = customers.map(
      (customer) => new Purchases(customer, productId, external.gateway, this.observer),
    );
  }

  /** @param place where a service is up */
  static async prepare(place: ServicePlace, external: ExternalServices): Promise<Workload> {
    const admin = await place.admin();
    const { id } = await createProduct(admin);
    const customers = [new Client(place.url), new Client(place.url)];
    for (const [index, customer] of customers.entries())
      await customer.register({ email: `buyer-${index}@example.com` }).expect(201);
    return new Workload(admin, customers, id, external);
  }

  /** Starts every activity; they go on until `stop`. */
  start(): void {
    this.#isStopping = false;
    // Two registrations, for they are what most jobs come from.
    const activities = [this.#registrations, this.#registrations, ...this.#catalogs, ...this.#purchases];
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

  /** The least that any activity was told was done: a run in which little was acknowledged proves little. */
  get acknowledged(): number {
    return Math.min(...[...this.#catalogs, ...this.#purchases].map(({ acknowledged }) => acknowledged));
  }

  /**
   * Compares everything that was acknowledged with what there is, once what was left unfinished has been finished.
   * @param kills how often something was killed, each of which may have sent the mails in hand twice
   */
  async verify(database: Pick<TestDatabase, 'pool'>, kills: number, output: () => string): Promise<void> {
    const { observer, external, admin } = this;
    expect(observer.explained(output())).toEqual([]);
    for (const purchases of this.#purchases) await purchases.verify(admin);
    // The list is read twice: the second time it comes from memory.
    await wholeCatalog(admin);
    const listed = await wholeCatalog(admin);
    const { rows } = await database.pool.query<{ id: number; name: string }>(
      'SELECT id, name FROM products ORDER BY id',
    );
    expect([...listed.values()].map(({ id, name }) => ({ id, name }))).toEqual(rows);
    const shown = [...listed.values()].flatMap(({ images }) => (images ?? []).map(imageIdOf));

    await until(
      'the jobs are done and only images that are shown are left',
      async () => {
        await letTimePass(database);
        await delay(100);
        const left = (await jobRows(database.pool)).length;
        return left === 0 && (await ledger(database)).length === shown.length;
      },
      60_000,
    );
    const held = await external.images();
    expect([...held.keys()].toSorted()).toEqual(shown.toSorted());
    for (const catalog of this.#catalogs) catalog.verify(listed, held);
    expect([...listed.keys()]).toEqual([this.productId]);
    const { rows: users } = await database.pool.query<{ email: string }>('SELECT email FROM users');
    const stored = new Set(users.map(({ email }) => email));
    // At least once: a mail whose job could not be ticked off is sent again, with a new code.
    expect(await this.#registrations.verify(external.smtp, stored)).toBeLessThanOrEqual(
      kills * MAILS_IN_DOUBT,
    );
    expect(observer.explained(output())).toEqual([]);
  }
}
