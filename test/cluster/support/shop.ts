import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../support/process.js';
import { ServicePlace } from '../../support/service-process.js';
import { until } from '../../support/wait.js';
import { ExternalServices } from '../../resilience/support/external-services.js';
import { Workload } from '../../resilience/support/workload.js';

/** About 25 requests a second from six activities. */
const PACE_MS = 150;
/** No response may take longer while the database is stuck. */
export const RESPONSE_BOUND_MS = 15_000;
/** The Observer waits a little longer, so that a late response is measured and reported with its duration. */
const DEADLINE_MS = 20_000;
const SAMPLE_GAP_MS = 200;
const READY_MS = 60_000;

interface Sample {
  readonly at: number;
  readonly isReady: boolean;
  readonly message: string;
}

/** Two processes of the service under load on one database. */
export class Shop {
  #samples: readonly [Sample[], Sample[]] = [[], []];
  #isSampling = false;
  #sampling: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly places: readonly [ServicePlace, ServicePlace],
    private readonly metricsPorts: readonly [number, number],
    private readonly external: ExternalServices,
    private readonly databaseUrl: string,
    readonly workload: Workload,
  ) {}

  /** @param databaseUrl an empty database, by the way that the test uses to read it */
  static async open(databaseUrl: string, serviceUrl = databaseUrl): Promise<Shop> {
    const owner = await ServicePlace.prepare();
    const places = [owner, await ServicePlace.prepare(owner.dataDir)] as const;
    const external = await ExternalServices.start(owner.dataDir);
    const ports = [await freePort(), await freePort()] as const;
    try {
      await Promise.all(
        places.map((place, index) =>
          place.start({
            ...external.settings,
            DATABASE_URL: serviceUrl,
            STAGED_IMAGE_TTL_S: '5',
            METRICS_PORT: String(ports[index]),
          }),
        ),
      );
      const options = { otherUrl: places[1].url, paceMs: PACE_MS, boundMs: DEADLINE_MS };
      const workload = await Workload.prepare(owner, external, options);
      return new Shop(places, ports, external, databaseUrl, workload);
    } catch (error) {
      await Promise.all(places.map((place) => place.stop()));
      await external.close();
      throw error;
    }
  }

  /** Starts the load and waits until it runs, then starts to measure. */
  async start(): Promise<void> {
    const { observer } = this.workload;
    this.workload.start();
    await until('the load runs', () => observer.acknowledged > 30);
    observer.measure();
    this.#isSampling = true;
    this.#sampling = Promise.all(this.places.map(({ url }, index) => this.#sample(url, index as 0 | 1)));
  }

  /** Waits until both processes are ready, serve requests and run jobs again, then ends the load. */
  async recover(): Promise<void> {
    const { observer } = this.workload;
    await until(
      'both processes are ready',
      () => this.#samples.every((list) => list.at(-1)?.isReady),
      READY_MS,
    );
    const before = observer.acknowledged;
    await until('requests are acknowledged', () => observer.acknowledged > before + 30, READY_MS);
    const jobs = await Promise.all(this.metricsPorts.map(countJobs));
    await until(
      'each process runs jobs',
      async () => {
        const now = await Promise.all(this.metricsPorts.map(countJobs));
        return now.every((count, index) => count > (jobs[index] ?? 0));
      },
      READY_MS,
    );
    await this.workload.stop();
    this.#isSampling = false;
    await this.#sampling;
  }

  /** Readiness of both processes in the middle of the longest outage, when requests failed for a while. */
  readinessDuringGap(): string[] {
    const [start, end] = this.workload.observer.gap;
    const samples = this.#samples.flat().filter(({ at }) => at > start + 5_000 && at < end - 3_000);
    return [...new Set(samples.map(({ message }) => message))];
  }

  /** True if each process was not ready, because of the database, at some time. */
  get hasReportedDatabase(): boolean {
    return this.#samples.every((list) => list.some(({ message }) => message.includes('database')));
  }

  /** Verifies all acknowledged data. @param interruptions how often the queue was interrupted, in all processes */
  async verify(interruptions: number): Promise<void> {
    const pool = new pg.Pool({ connectionString: this.databaseUrl, max: 2 });
    pool.on('error', () => undefined); // The next statement reports a lost connection.
    try {
      await this.workload.verify({ pool }, interruptions, () => this.output());
    } finally {
      await pool.end();
    }
    // The log contains no output of a library, such as a warning about listeners.
    expect(
      this.output()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{')),
    ).toEqual([]);
  }

  output(): string {
    return this.places.map((place) => place.output()).join('');
  }

  async close(): Promise<void> {
    this.#isSampling = false;
    await this.workload.stop();
    await this.#sampling;
    await this.places[1].clear();
    await this.places[0].clear();
    await this.external.close();
  }

  async #sample(url: string, index: 0 | 1): Promise<void> {
    while (this.#isSampling) {
      const at = performance.now();
      const response = await fetch(`${url}/api/health/ready`);
      const body = (await response.json()) as { errors?: { message: string } };
      this.#samples[index].push({ at, isReady: response.ok, message: body.errors?.message ?? 'ready' });
      await delay(SAMPLE_GAP_MS);
    }
  }
}

async function countJobs(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^bakery_job_duration_seconds_count\{.*outcome="done".*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
