import fc from 'fast-check';
import type { HostileRequest } from '../support/hostile.js';
import { type RandomRequest, requestsTo, type Target, targetsOf } from './random-requests.generators.js';
import { closeConnections, Judge, pathOf, send } from './random-requests.judge.js';
import { openWorld, type World } from './random-requests.world.js';
import { isLongForm, record } from './support/figures.js';

const REQUESTS = isLongForm ? 20_000 : 1_500;
/** Operations that are tried at the same time. */
const AT_ONCE = 4;
const LEVELS = new Set(['trace', 'debug', 'info', 'warn']);

let world: World;
let judge: Judge;
let targets: Target[];
/** Lines of the start, among them that the service was not ready yet. */
let linesOfStart: number;

beforeAll(async () => {
  world = await openWorld();
  judge = new Judge(world.document);
  targets = targetsOf(world.document);
  linesOfStart = logLines().length;
});

afterAll(async () => {
  closeConnections();
  await world.close();
});

/** @throws Error that shows the request, when its answer is not as documented */
async function sendAndJudge(target: Target, sent: HostileRequest): Promise<number> {
  const answer = await send(world.service.url, target, sent);
  const problems = judge.judge(target, sent, answer);
  if (problems.length === 0) return answer.status;
  throw new Error(
    `${problems.join('; ')}: ${answer.status} ${answer.body.slice(0, 500)}\n${describeRequest(target, sent)}`,
  );
}

function describeRequest(target: Target, sent: HostileRequest): string {
  const shown = JSON.stringify(sent.body.subarray(0, 2_000).toString('latin1'));
  return `${target.method.toUpperCase()} ${pathOf(target, sent)}\n${JSON.stringify(sent.headers)}\n${shown} (${sent.body.length} bytes)`;
}

/** Random requests to one operation; a failure is shrunk and names the seed that repeats it. */
async function attack(target: Target, runs: number): Promise<Record<RandomRequest['intent'], number>> {
  const accepted = { valid: 0, 'nearly valid': 0, hostile: 0 };
  await fc.assert(
    fc.asyncProperty(requestsTo(target, world), async (request) => {
      const status = await sendAndJudge(target, request);
      // A failure of the service is documented too, but not as an answer to a request.
      if (status >= 500)
        throw new Error(
          `${status} for ${JSON.stringify({ ...request, body: request.body.toString('latin1').slice(0, 2_000) })}`,
        );
      if (status < 400) accepted[request.intent] += 1;
    }),
    { numRuns: runs, seed: Number(process.env.RESILIENCE_SEED) },
  );
  return accepted;
}

/** What the service printed so far: one JSON object a line, whatever it was sent. */
function logLines(): Record<string, unknown>[] {
  const lines = world.service.output().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('requests made from the OpenAPI document', () => {
  it('no random request to any operation gives a 5xx or an answer that is not as documented', async () => {
    const runs = Math.ceil(REQUESTS / targets.length);
    const accepted = { valid: 0, 'nearly valid': 0, hostile: 0 };
    const waiting = [...targets];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
          const here = await attack(target, runs);
          for (const intent of Object.keys(here) as RandomRequest['intent'][])
            accepted[intent] += here[intent];
        }
      }),
    );
    expect(judge.count()).toBeGreaterThanOrEqual(REQUESTS);
    // Requests that are all refused at the door would show nothing of what is behind it.
    expect(accepted.valid).toBeGreaterThan(REQUESTS / 20);
    expect(accepted['nearly valid']).toBeGreaterThan(REQUESTS / 40);
    expect(accepted.hostile).toBeGreaterThan(REQUESTS / 40);
    record('random requests', {
      'requests sent': judge.count(),
      'valid and accepted': accepted.valid,
      'nearly valid and accepted': accepted['nearly valid'],
      'hostile and accepted': accepted.hostile,
      'answers 5xx': judge.count((status) => status >= 500),
      'documented answers reached by chance': judge.counts.size,
    });
  });

  it('they raise nobody to administrator and write nothing into the log but lines of the service', async () => {
    const { rows } = await world.service.database.pool.query(
      `SELECT count(*)::int AS admins FROM users WHERE role = 'ADMIN'`,
    );
    expect(rows).toEqual([{ admins: 1 }]);
    expect(
      logLines()
        .slice(linesOfStart)
        .filter(({ level }) => !LEVELS.has(String(level))),
    ).toEqual([]);
    expect((await fetch(`${world.service.url}/api/health/ready`)).status).toBe(200);
  });
});
