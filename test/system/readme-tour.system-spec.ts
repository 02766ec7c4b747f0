import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase, type TestDatabase } from '../support/databases.js';
import { ServicePlace } from '../support/service-process.js';

/** A block of commands, to be pasted whole. */
interface Step {
  readonly commands: string;
  /** The answer that the README shows below it. */
  readonly shown: string;
}

let place: ServicePlace;
let folder: string;
let database: TestDatabase;

beforeAll(async () => {
  place = await ServicePlace.prepare();
  folder = await mkdtemp(join(tmpdir(), 'bakery-tour-'));
  await symlink(resolve('examples'), join(folder, 'examples'));
  database = await createDatabase();
  const [, email = '', password = ''] =
    /^ADMIN_EMAIL=(\S+) ADMIN_PASSWORD='([^']+)' npm start$/m.exec(await readFile('README.md', 'utf8')) ?? [];
  await place.start({
    NODE_ENV: 'development',
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, '.data'),
    ADMIN_EMAIL: email,
    ADMIN_PASSWORD: password,
  });
});

afterAll(async () => {
  await place.clear();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The blocks of the README's tour that talk to the service, in order. */
async function tour(): Promise<Step[]> {
  const [, text = ''] = /\n## A tour.*?\n(.*?)\n## /s.exec(await readFile('README.md', 'utf8')) ?? [];
  return [...text.matchAll(/```sh\n([^`]*)```\s*```json\n([^`]*)```/g)].map(
    ([, commands = '', shown = '']) => ({
      commands,
      shown: shown.trim(),
    }),
  );
}

/** Pastes a block into a shell in the tour's folder, with the variables that those before it have set. */
async function paste(commands: string): Promise<string> {
  const script = `[ -f variables ] && . ./variables
${commands.replaceAll('http://localhost:3000', place.url)}
declare -p OTP ORDER PAGE 2>/dev/null >variables; true`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, timeout: 60_000 });
  return stdout.trim();
}

/** Leaves out what is different every time: ids, times and the address. */
function steady(output: string): string {
  return output
    .replaceAll(place.url, 'http://localhost:3000')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

it("every block of the README's tour, pasted whole, prints the answer shown below it", async () => {
  const steps = await tour();
  expect(steps).toHaveLength(5);
  for (const { commands, shown } of steps) {
    expect({ commands, printed: steady(await paste(commands)) }).toEqual({
      commands,
      printed: steady(shown),
    });
  }
});
