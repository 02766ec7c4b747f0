import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { type BuiltProcess, freePort, spawnBuilt, untilListening } from '../support/process.js';
import { until } from '../support/wait.js';

interface Step {
  readonly command: string;
  /** What the README shows below it. */
  readonly shown: string;
}

const STARTS = /^(npm ci|.*npm start)$/;
/** Commands that can be repeated until what they wait for has come. */
const LOOKS = /^(grep |OTP=|curl -s \S+ -b \S+$)/;

let folder: string;
let database: TestDatabase;
let service: BuiltProcess;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bakery-tour-'));
  await symlink(resolve('examples'), join(folder, 'examples'));
  database = await createDatabase();
  const port = await freePort();
  url = `http://localhost:${port}`;
  const [, email = '', password = ''] =
    /^\$ ADMIN_EMAIL=(\S+) ADMIN_PASSWORD='([^']+)' npm start$/m.exec(await readFile('README.md', 'utf8')) ??
    [];
  service = spawnBuilt('src/main.js', {
    NODE_ENV: 'development',
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, '.data'),
    ADMIN_EMAIL: email,
    ADMIN_PASSWORD: password,
  });
  await untilListening(service, url);
});

afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.exited;
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The commands of the README's tour that talk to the service, in order. */
async function tour(): Promise<Step[]> {
  const [, text = ''] = /\n## A tour.*?\n(.*?)\n## /s.exec(await readFile('README.md', 'utf8')) ?? [];
  const consoles = [...text.matchAll(/```console\n(.*?)```/gs)].map(([, block = '']) => block);
  return consoles
    .flatMap((block) => block.split(/^\$ /m).slice(1))
    .map((entry) => {
      const [command = ''] = /^(?:.*\\\n)*.*/.exec(entry) ?? [];
      return { command, shown: entry.slice(command.length).trim() };
    })
    .filter(({ command }) => !STARTS.test(command));
}

/** Runs a command in the tour's folder, with the variables that those before it have set. */
async function type(command: string): Promise<string> {
  const script = `set -a; [ -f variables ] && . ./variables; ${command}\ndeclare -p OTP ORDER PAGE 2>/dev/null >variables; true`;
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', script.replaceAll('http://localhost:3000', url)],
    { cwd: folder },
  );
  return stdout.trim();
}

/** Leaves out what is different every time: ids, times, codes and the address. */
function steady(output: string): string {
  return output
    .replaceAll(url, 'http://localhost:3000')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/^\d{6}$/gm, 'CODE');
}

it('README, tour: every command, typed in order, prints what the README shows below it', async () => {
  const steps = await tour();
  expect(steps.length).toBeGreaterThan(8);
  await writeFile(join(folder, 'variables'), '');
  for (const { command, shown } of steps) {
    let printed = await type(command);
    if (LOOKS.test(command)) {
      await until(`it prints what is shown below ${command}`, async () => {
        printed = await type(command);
        return steady(printed) === steady(shown);
      }).catch(() => undefined); // the comparison says more
    }
    expect({ command, printed: steady(printed) }).toEqual({ command, printed: steady(shown) });
  }
});
