import { readFile } from 'node:fs/promises';
import { importBuilt } from './support/built.js';

const { VARIABLES } = await importBuilt('src/config/read-env.js');
const { POOL_SIZE } = await importBuilt('src/database/data-source.js');
const { MAX_FORM_BYTES } = await importBuilt('src/images/form.interceptor.js');
const { WORKERS } = await importBuilt('src/jobs/job-kinds.js');

/** Connections that a process of the service may use, for requests and for jobs. */
const CONNECTIONS_OF_A_PROCESS = POOL_SIZE + WORKERS;
const RESERVED_FOR_COMMANDS = 20;
const SETTINGS = new Set(VARIABLES.values());

const development = await readFile('docker-compose.yml', 'utf8');
const production = await readFile('docker-compose.production.yml', 'utf8');
const nginx = await readFile('deploy/nginx.conf', 'utf8');
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

it('the compose file for production fixes only the settings that its containers determine', () => {
  const [, block = ''] = /\n {2}environment:\n((?: {4}.*\n)+)/.exec(production) ?? [];
  const fixed = [...block.matchAll(/^ {4}(\w+): (?!\$\{)/gm)].map(([, name]) => name);
  expect(fixed).toEqual(['NODE_ENV', 'PORT', 'METRICS_PORT', 'METRICS_HOST', 'BACKUP_DIR']);
});

it('the load balancer rejects no form that the service accepts, and no larger one reaches the service', () => {
  expect(readNumber(nginx, /client_max_body_size (\d+)m;/) * 1024 * 1024).toBe(MAX_FORM_BYTES);
});

it('the load balancer limits the connections and requests of each client address', () => {
  expect(nginx).toMatch(/^ {2}limit_conn_zone \$binary_remote_addr zone=connections:/m);
  expect(nginx).toMatch(/^ {4}limit_conn connections 200;$/m);
  expect(nginx).toMatch(/^ {2}limit_req_zone \$binary_remote_addr zone=requests:\w+ rate=200r\/s;$/m);
  expect(nginx).toMatch(/^ {4}limit_req zone=requests burst=1000 nodelay;$/m);
});
