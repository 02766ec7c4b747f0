import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '../support/databases.js';
import { useFolder } from '../support/process.js';
import { ServiceInstance } from '../support/service-process.js';

interface Step {
  readonly commands: string;
  /** Response that the README shows below the commands. */
  readonly shown: string;
}

const database = await createDatabase();
const folder = await useFolder('bakery-tour-');
const instance = await ServiceInstance.create();

beforeAll(async () => {
  await symlink(resolve('examples'), join(folder, 'examples'));
  const [, email = '', password = ''] =
    /^ADMIN_EMAIL=(\S+) ADMIN_PASSWORD='([^']+)' npm start$/m.exec(await readFile('README.md', 'utf8')) ?? [];
  await instance.start({
    NODE_ENV: 'development',
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, '.data'),
    ADMIN_EMAIL: email,
    ADMIN_PASSWORD: password,
  });
});

/** Reads the blocks of the README's tour that send requests to the service, in order. */
async function readTour(): Promise<Step[]> {
  const [, text = ''] = /\n## A tour.*?\n(.*?)\n## /s.exec(await readFile('README.md', 'utf8')) ?? [];
  const blocks = [...text.matchAll(/```sh\n([^`]*)```\s*```json\n([^`]*)```/g)];
  return blocks.map(([, commands = '', shown = '']) => ({ commands, shown: shown.trim() }));
}

/** Runs a block in a shell with the variables and functions of earlier blocks, and saves its own for later blocks. */
async function runInShell(commands: string): Promise<string> {
  const script = `[ -f variables ] && . ./variables
${commands.replaceAll('http://localhost:3000', instance.url)}
{ declare -p OTP AYU PRODUCT ORDER PAGE; declare -f call json show; } 2>/dev/null >variables; true`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, timeout: 60_000 });
  return stdout.trim();
}

/** Replaces the address, UUIDs and times, which differ in each run, with fixed texts. */
function replaceVariableParts(output: string): string {
  return output
    .replaceAll(instance.url, 'http://localhost:3000')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

it("every block of the README's tour prints the response shown below it", async () => {
  const steps = await readTour();
  expect(steps).toHaveLength(5);
  for (const { commands, shown } of steps) {
    const printed = replaceVariableParts(await runInShell(commands));
    expect({ commands, printed }).toEqual({ commands, printed: replaceVariableParts(shown) });
  }
});

it("a second run of the README's tour signs in instead of registering, and reports that there is no unused code", async () => {
  const user = { id: 2, fullname: 'Ayu Lestari', email: 'ayu@example.com' };
  const outputs: string[] = [];
  for (const { commands } of await readTour()) outputs.push(await runInShell(commands));
  const [account = '', code = '', product = '', order = '', payment = ''] = outputs;
  expect(JSON.parse(account)).toMatchObject({ status: 'success', data: { users: user } });
  expect(code).toBe('No mail came within 10 seconds, or its code is used or expired.');
  expect(JSON.parse(product)).toMatchObject({ products: { id: 2 } });
  expect(JSON.parse(order)).toMatchObject({ order: { status: 'pending', gross_amount: 370_000 } });
  expect(JSON.parse(payment)).toMatchObject({ order: { status: 'settlement' } });
});
