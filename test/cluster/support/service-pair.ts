import pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../support/process.js';
import { ServiceInstance } from '../../support/service-process.js';
import { until } from '../../support/wait.js';
import { ExternalServices } from '../../resilience/support/external-services.js';
import { Workload } from '../../resilience/support/workload.js';

/** Pause between the requests of an activity. The six activities send about 25 requests a second. */
const PACE_MS = 150;
/** Limit for a response while the database is stuck. */
export const RESPONSE_LIMIT_MS = 15_000;
/** Longer than RESPONSE_LIMIT_MS, so that a late response is measured and reported with its duration. */
const OBSERVER_TIMEOUT_MS = 20_000;
const SAMPLE_GAP_MS = 200;
const RECOVERY_LIMIT_MS = 60_000;

/** Response of the readiness check at one time. */
interface Sample {
  readonly at: number;
  readonly isReady: boolean;
  readonly message: string;
}

/** Two processes of the service under load on one database. */
export class ServicePair {
  #samples: readonly [Sample[], Sample[]] = [[], []];
  #isSampling = false;
  #sampling: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly places: readonly [ServiceInstance, ServiceInstance],
    private readonly metricsPorts: readonly [number, number],
    private readonly external: ExternalServices,
    private readonly databaseUrl: string,
    readonly workload: Workload,
  ) {}

  /**
   * @param databaseUrl URL of an empty database, for the test
   * @param serviceUrl URL of the same database for the service, for example through a pooler
   */
  static async open(databaseUrl: string, serviceUrl: string): Promise<ServicePair> {
    const owner = await ServiceInstance.create();
    const places = [owner, await ServiceInstance.create(owner.dataDir)] as const;
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
      const options = { otherUrl: places[1].url, paceMs: PACE_MS, boundMs: OBSERVER_TIMEOUT_MS };
      const workload = await Workload.prepare(owner, external, options);
      return new ServicePair(places, ports, external, databaseUrl, workload);
    } catch (error) {
      await Promise.all(places.map((place) => place.stop()));
      await external.close();
      throw error;
    }
  }

  /** Starts the load and begins to measure when the load runs. */
  async startLoad(): Promise<void> {
    const { observer } = this.workload;
    this.workload.start();
    await until('the load runs', () => observer.acknowledged > 30);
    observer.measure();
    this.#isSampling = true;
    this.#sampling = Promise.all(this.places.map(({ url }, index) => this.#sample(url, index as 0 | 1)));
  }

  /** Waits until both processes are ready, serve requests and run jobs again, then stops the load. */
  async waitUntilRecovered(): Promise<void> {
    const { observer } = this.workload;
    const areReady = () => this.#samples.every((list) => list.at(-1)?.isReady);
    await until('both processes are ready', areReady, RECOVERY_LIMIT_MS);
    const writesBefore = observer.acknowledged;
    await until(
      'requests are acknowledged',
      () => observer.acknowledged > writesBefore + 30,
      RECOVERY_LIMIT_MS,
    );
    const jobsBefore = await Promise.all(this.metricsPorts.map(countJobs));
    const haveRunJobs = async () => {
      const jobs = await Promise.all(this.metricsPorts.map(countJobs));
      return jobs.every((count, index) => count > (jobsBefore[index] ?? 0));
    };
    await until('each process runs jobs', haveRunJobs, RECOVERY_LIMIT_MS);
    await this.workload.stop();
    this.#isSampling = false;
    await this.#sampling;
  }

  /** Returns the readiness of both processes in the middle of the longest outage, when requests failed for a while. */
  readinessDuringGap(): string[] {
    const [start, end] = this.workload.observer.gap;
    const samples = this.#samples.flat().filter(({ at }) => at > start + 5_000 && at < end - 3_000);
    return [...new Set(samples.map(({ message }) => message))];
  }

  /** True if each process reported at some time that its database was not ready. */
  get hasReportedDatabase(): boolean {
    return this.#samples.every((list) => list.some(({ message }) => message.includes('database')));
  }

  /** Verifies all acknowledged data. @param interruptions number of interruptions of the queue in all processes */
  async verify(interruptions: number): Promise<void> {
    const pool = new pg.Pool({ connectionString: this.databaseUrl, max: 2 });
    pool.on('error', () => undefined); // The next statement reports a lost connection.
    try {
      await this.workload.verify({ pool }, interruptions, () => this.output());
    } finally {
      await pool.end();
    }
    const lines = this.output().split('\n');
    // The log contains no output of a library, such as a warning about listeners.
    expect(lines.filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
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
