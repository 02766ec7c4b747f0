import { randomUUID } from 'node:crypto';
import { Client } from '../support/client.js';
import { createEmptyDatabase, type TestDatabase } from '../support/databases.js';
import { isInstalled, reportSkipped } from '../support/installed.js';
import { ageLocks, readJobs } from '../support/jobs.js';
import { type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import type { BuiltProcess } from '../support/process.js';
import { killHard } from '../support/service-process.js';
import { inParallel, until } from '../support/wait.js';
import { Deployment } from './support/deployment.js';
import type { ExternalServices } from './support/external-services.js';
import { isLongRun } from './support/long-run.js';

const PROCESSES = 4;
/** Number of codes that a process mails at a time; see src/jobs/job-kinds.ts. */
const CONCURRENT_CODE_MAILS = 2;

let deployment: Deployment;
let external: ExternalServices;
let processes: BuiltProcess[];
let database: TestDatabase;
let pooler: PgBouncer | undefined;

beforeAll(async () => {
  database = await createEmptyDatabase();
  deployment = await Deployment.create(PROCESSES);
  ({ external } = deployment);
  if (isInstalled('pgbouncer')) pooler = await startPgBouncer(database.url);
  else reportSkipped('pgbouncer is not installed, so no process connects through it');
  // Every second process connects through PgBouncer in transaction mode.
  const databaseUrls = [database.url, pooler?.through(database.url) ?? database.url];
  processes = await Promise.all(
    deployment.instances.map((instance, index) =>
      instance.start({ ...external.settings, DATABASE_URL: databaseUrls[index % 2] ?? '' }),
    ),
  );
});

afterAll(async () => {
  await deployment.close();
  await pooler?.stop();
  await database.drop();
  // The last test kills the first process, so only the others exit with 0.
  const exitCodes = await Promise.all(processes.slice(1).map(({ exited }) => exited));
  expect(exitCodes.filter((code) => code !== 0)).toEqual([]);
});

/** Registers accounts in parallel, the first one at the first process and so on. Returns their addresses. */
async function registerAccounts(count: number): Promise<string[]> {
  return inParallel(count, async (n) => {
    const email = `${randomUUID()}@example.com`;
    await new Client(deployment.instances[n % PROCESSES]?.url ?? '').register({ email }).expect(201);
    return email;
  });
}

/** @param from text that follows FROM: a table with an optional condition, or a subquery */
async function countRows(from: string): Promise<number> {
  const rows = await database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${from}`);
  return rows[0]?.count ?? -1;
}

async function waitForEmptyQueue(): Promise<void> {
  await until('an empty queue', async () => (await readJobs(database.pool)).length === 0, 120_000);
}

it('processes that start in parallel on a new database run each migration once and create one administrator', async () => {
  const repeated = '(SELECT name FROM migrations GROUP BY name HAVING count(*) > 1) AS repeated';
  expect(await countRows(repeated)).toBe(0);
  expect(await countRows('migrations')).toBeGreaterThan(3);
  expect(await countRows("users WHERE role = 'ADMIN'")).toBe(1);
});

it('each new account gets exactly one mail, whichever process registered it', async () => {
  const emails = await registerAccounts(40);
  await waitForEmptyQueue();
  expect(external.smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual(emails.toSorted());
});

it('the remaining processes run the jobs of a process that was killed with SIGKILL', async () => {
  const countLockedJobs = async (): Promise<number> =>
    (await readJobs(database.pool)).filter(({ locked_by }) => locked_by !== null).length;
  external.smtp.hang();
  const emails = await registerAccounts(24);
  const busy = PROCESSES * CONCURRENT_CODE_MAILS;
  await until('every process is sending mails', async () => (await countLockedJobs()) === busy);
  const [first] = processes;
  if (first !== undefined) await killHard(first);
  external.smtp.resume();
  if (!isLongRun) {
    const hasAsManyLocksAsKilled = async () => (await countLockedJobs()) === CONCURRENT_CODE_MAILS;
    await until('as many jobs are locked as the killed process ran', hasAsManyLocksAsKilled);
    // Make the locks a minute older: the processes unlock jobs that were locked over 60 s ago. A long run waits instead.
    await ageLocks(database.pool, 60);
  }
  await waitForEmptyQueue();
  const recipients = external.smtp.mails.flatMap(({ to }) => to);
  expect(emails.filter((email) => !recipients.includes(email))).toEqual([]);
});
