import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { built } from '../support/built.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { png } from '../support/pictures.js';
import type { BuiltProcess } from '../support/process.js';
import { form } from '../support/products.js';
import { ADMIN } from '../support/service.js';
import { Client } from '../support/client.js';
import { until } from '../support/wait.js';
import { isLongForm, record } from './support/figures.js';
import { ExternalServices } from './support/external-services.js';
import { Random } from './support/random.js';
import { ServicePlace } from './support/service-process.js';

const TOPIC = 'SIGTERM under load';
/** Every other one over connections that are kept. */
const ROUNDS = isLongForm ? 12 : 2;
const STOP_MS = 10_000;
const CALLERS = 12;

let place: ServicePlace;
let external: ExternalServices;
let database: TestDatabase;

beforeEach(async () => {
  place = await ServicePlace.prepare();
  external = await ExternalServices.start(place.dataDir, new Random('external services'));
  database = await createDatabase();
});

afterEach(async () => {
  await place.clear();
  await external.close();
  await database.drop();
});

it('SIGTERM cuts no request that was accepted, and the process exits 0 within 10 s (contract 16)', async () => {
  const random = new Random(TOPIC);
  const settings = { ...external.settings, DATABASE_URL: database.url };
  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await place.start(settings);
    external.cloudinary.delayMs = 1_000;
    const admin = new Client(place.url);
    await admin.post('/api/login').send(ADMIN).expect(200);
    const load = new RegistrationLoad(place.port, round % 2 === 0);
    load.start();
    const upload = form(admin.post('/api/products'), { name: 'Kue', description: 'Slow', price: '1' }, [
      { bytes: png(round), name: 'slow.png' },
    ]).then(({ status }) => status);
    await until('the upload is under way', () => external.cloudinary.requests.length > round);
    await delay(random.between(0, 500));

    const began = performance.now();
    service.child.kill('SIGTERM');
    expect(await upload).toBe(201);
    expect(await service.exited).toBe(0);
    const stopMs = performance.now() - began;
    await load.stop();
    expect(stopMs).toBeLessThan(STOP_MS);

    const { rows } = await database.pool.query<{ email: string }>(
      'SELECT email FROM users WHERE email = ANY ($1)',
      [load.sent],
    );
    const accepted = new Set(idsOfRequests(service.output()));
    const cutAfterAccepting = load.unanswered.filter(({ requestId }) => accepted.has(requestId));
    record(TOPIC, {
      'services stopped': 1,
      'requests answered': load.answered.length,
      'requests never accepted': load.unanswered.length,
      'requests accepted and cut': cutAfterAccepting.length,
      'exit after SIGTERM ms': stopMs,
    });
    expect(load.strange).toEqual([]);
    expect(load.answered.length).toBeGreaterThan(0);
    expect(cutAfterAccepting).toEqual([]);
    // Nothing is in doubt: what was answered is stored, and nothing else.
    expect(rows.map(({ email }) => email).sort()).toEqual(load.answered.map(({ email }) => email).sort());
  }
});

it('neither a body that never ends, nor a mail server that hangs, nor a silent database keeps the process beyond 10 s', async () => {
  const endless = await place.start(external.settings);
  external.smtp.hang();
  await new Client(place.url).register({ email: 'waiting@example.com' }).expect(201);
  await until('the mail server is asked', () => external.smtp.openConnections > 0);
  const { socket } = await halfSentLogin(place.port);
  socket.on('error', noop);

  const other = await ServicePlace.prepare();
  const proxy = await DatabaseProxy.start(database.url);
  try {
    const stalled = await other.start({ ...external.settings, DATABASE_URL: proxy.url });
    const waiting = await halfSentLogin(other.port);
    waiting.socket.on('error', noop);
    proxy.stall();
    waiting.finish();

    const [endlessMs, stalledMs] = await Promise.all([stopMsOf(endless), stopMsOf(stalled)]);
    record(TOPIC, {
      'exit with an endless request and a hanging job ms': endlessMs,
      'exit with a silent database ms': stalledMs,
    });
    expect(Math.max(endlessMs, stalledMs)).toBeLessThan(STOP_MS);
    expect(await embeddedServer(place)).toBeUndefined();
  } finally {
    await other.clear();
    await proxy.down();
  }
});

it('SIGTERM lets running requests finish, refuses new connections and exits 0 (contract 16)', async () => {
  const service = await place.start({ ...external.settings, DATABASE_URL: database.url });
  const { socket, finish, answer } = await halfSentLogin(place.port);
  const closed = once(socket, 'close');
  service.child.kill('SIGTERM');
  await until('the service stops accepting', () => refusesConnections(place.port));
  finish();
  await closed;
  expect(answer()).toMatch(/^HTTP\/1\.1 400 /m);
  expect(answer()).toContain('email or password is incorrect');
  expect(await service.exited).toBe(0);
  expect(service.output()).not.toMatch(/"level":"(warn|error|fatal)"(?!.*"request")/);
});

it('SIGTERM while the embedded database is being started leaves none behind', async () => {
  const service = place.spawn(external.settings);
  const server = await until('a PostgreSQL', () => embeddedServer(place).catch(() => undefined));
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(service.output()).not.toContain('listening on');
  expect(await embeddedServer(place)).toBeUndefined();
  expect(() => process.kill(server, 0)).toThrow('ESRCH');
});

/** Process number of the embedded server, as the cluster names it. */
async function embeddedServer({ dataDir }: ServicePlace): Promise<number | undefined> {
  const { locateCluster } = await built('src/config/embedded-postgres/cluster.js');
  const { readPidFile } = await built('src/config/embedded-postgres/postmaster.js');
  return (await readPidFile(await locateCluster(dataDir)))?.pid;
}

/** Ends a process with SIGTERM, which it must obey. @returns how long it took */
async function stopMsOf({ child, exited }: BuiltProcess): Promise<number> {
  const began = performance.now();
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  return performance.now() - began;
}

/** A login with a wrong password of which the service has the head and the beginning of the body. */
async function halfSentLogin(
  port: number,
): Promise<{ socket: Socket; finish: () => void; answer: () => string }> {
  const body = JSON.stringify({ email: 'ayu@example.com', password: 'wrong' });
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  const head = `POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 10));
  await until('the service has taken the request', () => answer.includes('100 Continue'));
  return {
    socket,
    finish: () => socket.write(body.slice(10)),
    answer: () => answer,
  };
}

function noop(): void {
  // Its outcome is looked at elsewhere.
}

interface Sent {
  readonly email: string;
  readonly requestId: string;
}

/** Registers accounts from many callers, over connections that are kept or new ones. */
class RegistrationLoad {
  readonly answered: Sent[] = [];
  readonly unanswered: Sent[] = [];
  /** Answers that are neither whole nor right. */
  readonly strange: string[] = [];
  readonly sent: string[] = [];
  readonly #agent: Agent;
  #isStopping = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly port: number,
    keepAlive: boolean,
  ) {
    this.#agent = new Agent({ keepAlive });
  }

  start(): void {
    this.#running = Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (!this.#isStopping) await this.#register();
      }),
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    this.#agent.destroy();
  }

  async #register(): Promise<void> {
    const requestId = randomUUID();
    const sent: Sent = { email: `${requestId}@example.com`, requestId };
    this.sent.push(sent.email);
    const password = 'kue lapis';
    const body = JSON.stringify({
      email: sent.email,
      fullname: 'Ayu',
      password,
      passwordConfirmation: password,
    });
    const request = httpRequest({
      agent: this.#agent,
      host: '127.0.0.1',
      port: this.port,
      method: 'POST',
      path: '/api/register',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        'X-Request-Id': requestId,
      },
    });
    try {
      const answer = new Promise<string>((resolve, reject) => {
        request.on('error', reject);
        request.on('response', (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => (text += chunk.toString()));
          response.on('error', () => {
            resolve(`the answer to ${requestId} was cut: ${text}`);
          });
          response.on('end', () => {
            resolve(`${response.statusCode ?? 0} ${text}`);
          });
        });
      });
      request.end(body);
      const text = await answer;
      if (text.startsWith('201 ') && text.includes(sent.email)) this.answered.push(sent);
      else this.strange.push(text);
    } catch {
      this.unanswered.push(sent);
      // Down: the callers need not keep the machine busy.
      await delay(20);
    }
  }
}

function idsOfRequests(output: string): string[] {
  return [...output.matchAll(/"requestId":"([^"]+)"/g)].flatMap(([, id]) => id ?? []);
}

async function refusesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.on('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.on('error', () => {
      resolve(true);
    });
  });
}
