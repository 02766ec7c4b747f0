import { createDeployment, type Deployment } from '../resilience/support/deployment.js';
import { Workload } from '../resilience/support/workload.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { describeInstalled } from '../support/installed.js';
import { waitUntilReady } from '../support/process.js';
import type { ServiceInstance } from '../support/service-process.js';
import { buildVersion12, describeWithVersion12 } from '../support/version-1.2.js';
import { type Nginx, startNginx } from './support/nginx.js';

const PROCESSES = 3;
/** Pause of each activity of the workload after a step. */
const PAUSE_MS = 150;
const REQUEST_TIMEOUT_MS = 15_000;

describeInstalled('three processes behind nginx', ['nginx'], () => {
  let database: TestDatabase;
  let deployment: Deployment;
  let nginx: Nginx;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    deployment = await createDeployment(PROCESSES);
    nginx = await startNginx(deployment.instances.map(({ port }) => port));
  });

  /** @param buildFolder folder that contains the `dist` of another version */
  async function start(instance: ServiceInstance, buildFolder?: string): Promise<void> {
    const settings = { ...deployment.external.settings, DATABASE_URL: database.url, PUBLIC_URL: nginx.url };
    await instance.start(settings, buildFolder);
    await waitUntilReady(instance.url);
  }

  async function startAll(buildFolder?: string): Promise<void> {
    await Promise.all(deployment.instances.map((instance) => start(instance, buildFolder)));
  }

  /**
   * Replaces the processes one after the other with processes of the current version. During each replacement, nginx sends
   * requests only to the other processes.
   */
  async function replaceAll(): Promise<void> {
    for (const instance of deployment.instances) {
      await nginx.reload(instance.port);
      expect(await instance.stop()).toEqual([0]);
      await start(instance);
      await nginx.reload();
    }
  }

  /** Replaces all processes under load and verifies that no request failed and no data was lost. */
  async function expectReplacedWithoutFailures(): Promise<void> {
    const options = { pauseMs: PAUSE_MS, timeoutMs: REQUEST_TIMEOUT_MS };
    const workload = await Workload.prepare(deployment, nginx.url, options);
    await workload.measureDuring(replaceAll);
    const { responsesWith503, brokenConnections, acknowledgedWrites, slowestMs } = workload.observer;
    const seconds = (slowestMs / 1000).toFixed(1);
    process.stdout.write(`rolling restart: ${acknowledgedWrites} writes, slowest response ${seconds} s\n`);
    expect({ responsesWith503, brokenConnections }).toEqual({ responsesWith503: 0, brokenConnections: 0 });
    // A stopping process finishes its running jobs. No process was killed, so no mail may be sent twice.
    await workload.verify(database.url, 0);
  }

  it('are restarted one after the other without a failed request', async () => {
    await startAll();
    await expectReplacedWithoutFailures();
  });

  describeWithVersion12('that run version 1.2', () => {
    let folder: string;

    // Before `beforeEach` chooses the ports: during a build, another process could take them.
    beforeAll(async () => {
      folder = await buildVersion12();
    });

    it('are upgraded one after the other without a failed request', async () => {
      await startAll(folder);
      await expectReplacedWithoutFailures();
    });
  });
});
