import { randomInt, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../support/client.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { findServerPid } from '../support/embedded-database.js';
import { measureRunning } from '../support/measure.js';
import { createPng } from '../support/pictures.js';
import type { BuiltProcess } from '../support/process.js';
import { CAKE, sendForm } from '../support/products.js';
import { openSocket } from '../support/raw-http.js';
import { ServiceInstance, stopProcess } from '../support/service-process.js';
import { inParallel, until } from '../support/wait.js';
import { createDeployment } from './support/deployment.js';
import type { ExternalServices } from './support/external-services.js';

/** Number of times that the service is started and stopped. The load uses keep-alive connections every second time. */
const STOPS = 2;
const STOP_LIMIT_MS = 10_000;
const CALLERS = 12;

let database: TestDatabase;
let external: ExternalServices;
let instance: ServiceInstance;

beforeEach(async () => {
  database = await createDatabase();
  const deployment = await createDeployment();
  ({ external } = deployment);
  [instance] = deployment.instances;
});

it('SIGTERM interrupts no accepted request, and the process exits with code 0 within 10 s (contract 16)', async () => {
  const settings = { ...external.settings, DATABASE_URL: database.url };
  for (let stops = 0; stops < STOPS; stops += 1) {
    const service = await instance.start(settings);
    const isStopping = () => service.output().includes('stopping: SIGTERM');
    external.cloudinary.beforeResponse = () => until('the service is stopping', isStopping);
    const admin = await instance.admin();
    const isKeepAlive = stops % 2 === 0;
    const load = startRegistrations(instance.url, isKeepAlive);
    const upload = sendForm(admin.post('/api/products'), CAKE, [
      { bytes: createPng(stops), name: 'slow.png' },
    ]).then(({ status }) => status);
    try {
      await until('the upload has reached the image host', () => external.cloudinary.calls.length > stops);
      await delay(randomInt(500));
      const [status] = await Promise.all([upload, expectStop(service)]);
      expect(status).toBe(201);
    } finally {
      await load.stop();
    }
    const { withResponse, withoutResponse } = load;
    expect(load.wrongResponses).toEqual([]);
    expect(withResponse.length).toBeGreaterThan(0);
    // The service logs every request that it has accepted, so a request without a response must not be in the log.
    expect(withoutResponse.filter((id) => service.output().includes(`"requestId":"${id}"`))).toEqual([]);
    const rows = await database.query<{ email: string }>('SELECT email FROM users WHERE email = ANY ($1)', [
      [...withResponse, ...withoutResponse].map(emailOf),
    ]);
    expect(rows.map(({ email }) => email).toSorted()).toEqual(withResponse.map(emailOf).toSorted());
  }
});

it('the process exits within 10 s despite an incomplete request body, a hanging mail server or a silent database', async () => {
  const withHangingMail = await instance.start(external.settings);
  external.smtp.hang();
  await new Client(instance.url).register({ email: 'waiting@example.com' }).expect(201);
  await until('a mail is being sent', () => external.smtp.openConnections > 0);
  await beginLogin(instance.url);

  const other = await ServiceInstance.create();
  const proxy = await DatabaseProxy.start(database.url);
  const withSilentDatabase = await other.start({ ...external.settings, DATABASE_URL: proxy.url });
  const login = await beginLogin(other.url);
  proxy.stall();
  login.finish();

  await Promise.all([expectStop(withHangingMail), expectStop(withSilentDatabase)]);
  // The first service used an embedded database, which stops with the service.
  expect(await findServerPid(instance.dataDir)).toBeUndefined();
});

/** Stops a process with SIGTERM. Asserts the exit code and the duration. */
async function expectStop(service: BuiltProcess): Promise<void> {
  const { result: exitCode, runningMs } = await measureRunning(() => stopProcess(service));
  expect(exitCode).toBe(0);
  expect(runningMs).toBeLessThan(STOP_LIMIT_MS);
}

/** Sends the headers and the beginning of the body of a login. `finish` sends the remaining bytes. */
async function beginLogin(url: string): Promise<{ finish: () => void }> {
  const body = JSON.stringify({ email: 'ayu@example.com', password: 'wrong' });
  const socket = openSocket(url);
  let response = '';
  socket.on('data', (chunk: Buffer) => (response += chunk.toString()));
  const head = `POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 10));
  await until('the service has accepted the request', () => response.includes('100 Continue'));
  return { finish: () => socket.write(body.slice(10)) };
}

const emailOf = (requestId: string): string => `${requestId}@example.com`;

/** Starts concurrent clients that register accounts until `stop`, over keep-alive or new connections. */
function startRegistrations(url: string, isKeepAlive: boolean) {
  const agent = new Agent({ keepAlive: isKeepAlive });
  /** Request ids of the accounts that were created. */
  const withResponse: string[] = [];
  /** Ids of the requests without a response. */
  const withoutResponse: string[] = [];
  const wrongResponses: string[] = [];
  let isStopping = false;
  const register = async (): Promise<void> => {
    const id = randomUUID();
    const request = new Client(url).register({ email: emailOf(id) }).set('X-Request-Id', id);
    try {
      const { status, text } = await request.agent(agent);
      if (status === 201 && text.includes(emailOf(id))) withResponse.push(id);
      else wrongResponses.push(`${status} ${text}`);
    } catch {
      withoutResponse.push(id);
      // The service is down, so the clients should not keep the machine busy.
      await delay(20);
    }
  };
  const running = inParallel(CALLERS, async () => {
    while (!isStopping) await register();
  });
  const stop = async (): Promise<void> => {
    isStopping = true;
    await running;
  };
  return { withResponse, withoutResponse, wrongResponses, stop };
}
