import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, utimes, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { importBuilt } from './support/built.js';
import { useFolder } from './support/process.js';
import { until } from './support/wait.js';

const { VARIABLES } = await importBuilt('src/config/read-env.js');
const { POOL_SIZE } = await importBuilt('src/database/data-source.js');
const { MAX_FORM_BYTES } = await importBuilt('src/images/form.interceptor.js');
const { WORKERS } = await importBuilt('src/jobs/job-kinds.js');

const root = await useFolder('bakery-deployment-');
/** Connections that a process of the service may use, for requests and for jobs. */
const CONNECTIONS_OF_A_PROCESS = POOL_SIZE + WORKERS;
const RESERVED_FOR_COMMANDS = 20;
const SETTINGS = new Set(VARIABLES.values());

const development = await readFile('docker-compose.yml', 'utf8');
const production = await readFile('docker-compose.production.yml', 'utf8');
const nginx = await readFile('deploy/nginx.conf', 'utf8');
const alertmanager = await readFile('deploy/alertmanager/alertmanager.yml', 'utf8');
const embeddedPostgres = await readFile('src/database/embedded-postgres/server.ts', 'utf8');
const example = await readFile('deploy/production.env.example', 'utf8');
const linesOfExample = [...example.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name);

function readNumber(text: string, pattern: RegExp): number {
  const [, number] = pattern.exec(text) ?? [];
  expect({ pattern, number }).toEqual({ pattern, number: expect.stringMatching(/^\d+$/) as string });
  return Number(number);
}

it('PostgreSQL in both compose files accepts the connections of all processes', () => {
  const replicas = readNumber(development, /replicas: (\d+)/) + 1; // and the service on port 3000
  const processes = readNumber(production, /replicas: \$\{PROCESSES:-(\d+)\}/);
  for (const [count, limit] of [
    [replicas, readNumber(development, /max_connections=(\d+)/)],
    [processes, readNumber(production, /max_connections=\$\{POSTGRES_CONNECTIONS:-(\d+)\}/)],
    [readNumber(example, /^PROCESSES=(\d+)$/m), readNumber(example, /^POSTGRES_CONNECTIONS=(\d+)$/m)],
  ] as const)
    expect(limit).toBeGreaterThanOrEqual(count * CONNECTIONS_OF_A_PROCESS + RESERVED_FOR_COMMANDS);
});

it('each line of the example for production is a setting of the service or a variable of the compose file', () => {
  const variables = new Set([...production.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name));
  expect(linesOfExample.filter((name) => !SETTINGS.has(name) && !variables.has(name))).toEqual([]);
});

it('the example for production contains every variable that the compose file requires', () => {
  const required = [...production.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
  expect(required).toContain('POSTGRES_PASSWORD');
  expect(required.filter((name) => !linesOfExample.includes(name))).toEqual([]);
});

it('the size of the log of each container in production is limited', () => {
  const [, block = ''] = /\nservices:\n(.*)\nvolumes:\n/s.exec(production) ?? [];
  const services = block.split(/^(?= {2}\w)/m);
  expect(services.length).toBeGreaterThan(7);
  const isLimited = (service: string) => /^ {4}(<<: \*service|logging: \*logging)$/m.test(service);
  expect(services.filter((service) => !isLimited(service))).toEqual([]);
  expect(production).toMatch(/\nx-service: &service\n(?: {2}.*\n)* {2}logging: \*logging\n/);
});

it('the compose file for production mounts each secret file that the configuration of Alertmanager names', () => {
  const files = [...alertmanager.matchAll(/_file: (\S+)/g)].map(([, file = '']) => file);
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !production.includes(`target: ${file}\n`))).toEqual([]);
});

it('PostgreSQL in production leaves the same details out of its log as the embedded PostgreSQL', () => {
  for (const setting of ['log_error_verbosity', 'log_min_error_statement']) {
    const [, value = 'unknown'] = new RegExp(`${setting}: '(\\w+)'`).exec(embeddedPostgres) ?? [];
    expect(production).toContain(`- ${setting}=${value}\n`);
  }
});

describe('the container for scheduled backups', () => {
  const BACKUP = 'bakery db backup --keep 14';
  /** Program that prints its call, and needs 150 ms to end after SIGTERM. If the shell ends first, the program ends at once. */
  const STAND_IN = `#!/usr/bin/env node
    const call = [require('node:path').basename(process.argv[1]), ...process.argv.slice(2)].join(' ');
    process.on('SIGTERM', () => {
      setTimeout(() => {
        console.log('ended: ' + call);
        process.exit(1);
      }, 150);
    });
    console.log(call);
    const shell = process.ppid;
    setInterval(() => {
      if (process.ppid !== shell) process.exit();
    }, 50);`;
  const FAILURE = '#!/bin/sh\necho "bakery $*"\nexit 1';
  const SUCCESS = '#!/bin/sh\necho "$(basename "$0") $*"';

  /**
   * Runs the container's command with stand-ins for other programs. Sends SIGTERM to the command as soon as `lastCall` runs.
   * Returns the lines that the stand-ins have printed until the end of the command.
   * @param ages hours since each backup in the folder was made
   */
  async function runCommand(
    ages: readonly number[],
    lastCall: string,
    { bakery = STAND_IN, sleep = STAND_IN } = {},
  ): Promise<string[]> {
    const folder = await mkdtemp(join(root, 'run-'));
    for (const age of ages) {
      const time = new Date(Date.now() - age * 3_600_000);
      const file = join(folder, `bakery-${time.getTime()}Z.tar.gz`);
      await writeFile(file, '');
      await utimes(file, time, time);
    }
    await writeFile(join(folder, 'sleep'), sleep, { mode: 0o755 });
    await writeFile(join(folder, 'bakery'), bakery, { mode: 0o755 });
    const [, script = ''] = /\n {6}- \|\n((?: {8}.*\n)+)/.exec(production) ?? [];
    const shell = spawn('sh', ['-c', script.replaceAll('$$', '$').replaceAll('/backups', folder)], {
      env: { PATH: [folder, process.env.PATH].join(delimiter) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(shell, 'close');
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      await until(`${lastCall} runs`, () => output.includes(`${lastCall}\n`), 10_000);
      shell.kill('SIGTERM');
      await closed;
    } finally {
      shell.kill('SIGKILL');
    }
    return output.trimEnd().split('\n');
  }

  it.each([
    ['makes a backup if there is none', [], BACKUP],
    ['makes a backup if the newest backup is a day old', [48, 24], BACKUP],
    [
      'makes a backup if the newest backup of the past is a day old and another lies in the future',
      [24, -240],
      BACKUP,
    ],
    ['makes no backup if the newest backup is recent', [24, 23, -240], 'sleep 900'],
  ])('%s, and ends the running program on SIGTERM', async (_, ages, call) => {
    expect(await runCommand(ages, call)).toEqual([call, `ended: ${call}`]);
  });

  it('repeats a failed backup after an hour', async () => {
    const programs = { bakery: FAILURE, sleep: SUCCESS };
    const lines = await runCommand([], `sleep 900\n${BACKUP}`, programs);
    expect(lines.slice(0, 4)).toEqual([BACKUP, 'sleep 2700', 'sleep 900', BACKUP]);
  });
});

it('the load balancer rejects no form that the service accepts, and no larger one reaches the service', () => {
  expect(readNumber(nginx, /client_max_body_size (\d+)m;/) * 1024 * 1024).toBe(MAX_FORM_BYTES);
});
