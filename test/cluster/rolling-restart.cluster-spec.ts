import { rm } from 'node:fs/promises';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { type BuiltProcess, waitUntilListening, waitUntilReady } from '../support/process.js';
import { signInAdmin } from '../support/service.js';
import { ServiceInstance, stopProcess } from '../support/service-process.js';
import { buildVersion11, hasVersion11 } from '../support/version-1.1.js';
import { until } from '../support/wait.js';
import { ExternalServices } from '../resilience/support/external-services.js';
import { Workload } from '../resilience/support/workload.js';
import { describeInstalled } from '../support/installed.js';
import { Nginx } from './support/nginx.js';

const itWithVersion11 = (await hasVersion11()) ? it : it.skip;

const PROCESSES = 3;
const PACE_MS = 150;
const REQUEST_LIMIT_MS = 15_000;

describeInstalled('three processes behind nginx', ['nginx'], () => {
  let database: TestDatabase;
  let places: ServiceInstance[];
  let processes: BuiltProcess[];
  let external: ExternalServices;
  let nginx: Nginx;
  let settings: Record<string, string>;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    const owner = await ServiceInstance.create();
    external = await ExternalServices.start(owner.dataDir);
    places = [owner];
    while (places.length < PROCESSES) places.push(await ServiceInstance.create(owner.dataDir));
    nginx = await Nginx.start(places.map(({ port }) => port));
    settings = {
      ...external.settings,
      DATABASE_URL: database.url,
      PUBLIC_URL: nginx.url,
      TRUSTED_PROXIES: '1',
      STAGED_IMAGE_TTL_S: '5',
    };
  });

  afterEach(async () => {
    for (const place of [...places].reverse()) await place.clear();
    await nginx.stop();
    await external.close();
    await database.drop();
  });

  /** Starts a process at each place. @param buildFolder folder with the `dist` of another version */
  async function startAll(buildFolder?: string): Promise<void> {
    processes = places.map((place) => place.spawn(settings, buildFolder));
    await Promise.all(processes.map((process, index) => waitForProcess(process, index)));
  }

  async function waitForProcess(process: BuiltProcess, index: number): Promise<void> {
    const url = places[index]?.url ?? '';
    await waitUntilListening(process, url);
    await waitUntilReady(url);
  }

  /**
   * Replaces the processes one after the other with processes of the current version. During each replacement, nginx sends
   * requests only to the other processes.
   */
  async function replaceAll(): Promise<void> {
    for (const [index, place] of places.entries()) {
      await nginx.reload(place.port);
      const [oldProcess] = processes.splice(index, 1);
      if (oldProcess !== undefined) expect(await stopProcess(oldProcess)).toBe(0);
      const newProcess = place.spawn(settings);
      processes.splice(index, 0, newProcess);
      await waitForProcess(newProcess, index);
      await nginx.reload();
    }
  }

  /** Replaces all processes under load and verifies that no request failed and no data was lost. */
  async function replaceUnderLoad(): Promise<void> {
    const target = { url: nginx.url, admin: () => signInAdmin(nginx.url) };
    const options = { isProxied: true, paceMs: PACE_MS, boundMs: REQUEST_LIMIT_MS };
    const workload = await Workload.prepare(target, external, options);
    const { observer } = workload;
    workload.start();
    try {
      await until('the load runs', () => observer.acknowledged > 30);
      observer.measure();
      await replaceAll();
      const writesBefore = observer.acknowledged;
      await until('the new processes respond', () => observer.acknowledged > writesBefore + 60);
    } finally {
      await workload.stop();
    }
    const seconds = (observer.slowestMs / 1000).toFixed(1);
    process.stdout.write(`rolling restart: ${observer.acknowledged} writes, slowest ${seconds} s\n`);
    expect({ refused: observer.refused, broken: observer.broken }).toEqual({ refused: 0, broken: 0 });
    const output = () => places.map((place) => place.output()).join('');
    // A stopping process finishes its running jobs. No process was killed, so no mail may be sent twice.
    const kills = 0;
    await workload.verify(database, kills, output);
  }

  it('are restarted one after the other without a failed request', async () => {
    await startAll();
    await replaceUnderLoad();
  });

  itWithVersion11('are upgraded from version 1.1 one after the other without a failed request', async () => {
    const folder = await buildVersion11();
    try {
      await startAll(folder);
      await replaceUnderLoad();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
