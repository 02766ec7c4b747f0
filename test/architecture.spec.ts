import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { breaches, type Sources } from './support/house-rules.js';

const ROOT = join(import.meta.dirname, '..');

function readSources(...folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return new Map(
    files.map((file) => [relative(ROOT, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  );
}

describe('architecture.md', () => {
  it('holds for every source: arrows, circles, rooms, and what is never written', () => {
    const sources = readSources('src', 'test', 'migrations');
    expect([...sources.keys()].filter((path) => path.startsWith('src/')).length).toBeGreaterThan(80);
    expect(breaches(sources)).toEqual([]);
  });
});

describe('the check itself', () => {
  const clean = {
    'src/main.ts': `import { Auth } from './auth/auth.service.js'; export const auth = new Auth();`,
    'src/config/env.ts': `import { first } from '../../migrations/first.js'; export const port = [process.env.PORT, first];`,
    'src/common/errors.ts': `import type { port } from '../config/env.js'; export type Port = typeof port;`,
    'src/users/user.entity.ts': `export class User { id!: number; }`,
    'src/users/users.repository.ts': `import { User } from './user.entity.js'; export const user = new User();`,
    'src/users/users.service.ts': `export { user } from './users.repository.js'; export class Users {}`,
    'src/auth/auth.service.ts': `import { Users } from '../users/users.service.js'; export class Auth extends Users {}`,
    'src/orders/orders.service.ts': `import { Auth } from '../auth/auth.service.js'; export class Orders extends Auth {}`,
    'test/some.spec.ts': `// Whatever a test imports. \nimport '../src/users/user.entity.js'; const text = 'eslint-disable';`,
    'migrations/first.ts': `export const first = 1;`,
  };

  function breachesWith(planted: Readonly<Record<string, string>>): string[] {
    return breaches(new Map(Object.entries({ ...clean, ...planted })));
  }

  it('finds nothing where nothing is wrong', () => {
    expect(breachesWith({})).toEqual([]);
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'an import against the arrows',
      { 'src/mail/mail.service.ts': `import { Users } from '../users/users.service.js'; new Users();` },
      'src/mail/mail.service.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'an import of a type alone against the arrows',
      { 'src/mail/mail.service.ts': `import type { Users } from '../users/users.service.js'; let a: Users;` },
      'src/mail/mail.service.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'a type query against the arrows',
      { 'src/mail/mail.service.ts': `let a: import('../users/users.service.js').Users;` },
      'src/mail/mail.service.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'a dynamic import against the arrows',
      { 'src/mail/mail.service.ts': `await import('../users/users.service.js');` },
      'src/mail/mail.service.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'an export from another room against the arrows',
      { 'src/mail/mail.service.ts': `export { Users } from '../users/users.service.js';` },
      'src/mail/mail.service.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'common importing a feature',
      { 'src/common/x.ts': `import { Users } from '../users/users.service.js';` },
      'src/common/x.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'config importing common',
      { 'src/config/x.ts': `import type { Port } from '../common/errors.js';` },
      'src/config/x.ts: imports src/common/errors.ts, against the arrows',
    ],
    [
      'health importing a feature',
      { 'src/health/x.ts': `import { Users } from '../users/users.service.js';` },
      'src/health/x.ts: imports src/users/users.service.ts, against the arrows',
    ],
    [
      'a room that nobody planned',
      { 'src/misc/x.ts': `import { Users } from '../users/users.service.js';` },
      'src/misc/x.ts: the room misc is not in architecture.md',
    ],
    [
      'a room importing what starts the service',
      { 'src/auth/x.ts': `import { auth } from '../main.js';` },
      'src/auth/x.ts: imports src/main.ts, which starts the service',
    ],
    [
      'an import from outside of src',
      { 'src/auth/x.ts': `import { first } from '../../migrations/first.js';` },
      'src/auth/x.ts: imports migrations/first.ts, outside src',
    ],
    [
      'an entity that leaves its room',
      { 'src/auth/x.ts': `import type { User } from '../users/user.entity.js';` },
      'src/auth/x.ts: imports src/users/user.entity.ts, which stays in its room',
    ],
    [
      'a repository that leaves its room, even for what starts the service',
      { 'src/commands/x.ts': `import { user } from '../users/users.repository.js';` },
      'src/commands/x.ts: imports src/users/users.repository.ts, which stays in its room',
    ],
    [
      'a circle of files',
      { 'src/auth/a.ts': `import './b.js';`, 'src/auth/b.ts': `import type { A } from './a.js';` },
      'src/auth/a.ts: circle of files src/auth/a.ts → src/auth/b.ts → src/auth/a.ts',
    ],
    [
      'a circle of rooms without a circle of files',
      { 'src/users/x.ts': `import '../auth/y.js';`, 'src/auth/y.ts': `export const y = 1;` },
      'src: circle of rooms auth → users → auth',
    ],
    ['forwardRef', { 'src/auth/x.ts': `forwardRef(() => Auth);` }, 'src/auth/x.ts: uses forwardRef'],
    ['any', { 'src/auth/x.ts': `const x = (y: any[]) => y;` }, 'src/auth/x.ts: uses any'],
    ['process.env', { 'src/auth/x.ts': `process.env.PORT;` }, 'src/auth/x.ts: reads process.env'],
    [
      'process.env in brackets',
      { 'src/auth/x.ts': `globalThis.process['env'];` },
      'src/auth/x.ts: reads process.env',
    ],
    [
      'process.env taken apart',
      { 'src/auth/x.ts': `const { env } = process;` },
      'src/auth/x.ts: reads process.env',
    ],
    [
      'process.env by import',
      { 'src/auth/x.ts': `import { env } from 'node:process';` },
      'src/auth/x.ts: reads process.env',
    ],
    ['a @Global feature', { 'src/auth/x.ts': `@Global() class X {}` }, 'src/auth/x.ts: is @Global'],
    ['a barrel', { 'src/auth/index.ts': `export const x = 1;` }, 'src/auth/index.ts: is a barrel'],
    ['export *', { 'src/auth/x.ts': `export * from './auth.service.js';` }, 'src/auth/x.ts: is a barrel'],
    [
      'a silenced linter',
      { 'test/x.spec.ts': `f(/* eslint-disable-line */ 1);` },
      'test/x.spec.ts: silences a rule',
    ],
    ['a silenced compiler', { 'src/auth/x.ts': `// @ts-ignore\nf();` }, 'src/auth/x.ts: silences a rule'],
    [
      'a compiler silenced at the end of a migration',
      { 'migrations/x.ts': `f();\n// @ts-expect-error` },
      'migrations/x.ts: silences a rule',
    ],
    [
      'a linter silenced in a docstring',
      { 'src/auth/x.ts': `/** eslint-disable */\nexport const x = 1;` },
      'src/auth/x.ts: silences a rule',
    ],
    [
      'a file of more than 250 lines',
      { 'src/auth/x.ts': 'f();\n'.repeat(251) },
      'src/auth/x.ts: has 251 lines, more than 250',
    ],
  ])('finds %s', (_what, planted, breach) => {
    expect(breachesWith(planted)).toContain(breach);
  });

  it('is told of an import that leads nowhere, rather than passing it over', () => {
    expect(() => breachesWith({ 'src/auth/x.ts': `import './gone.js';` })).toThrow('is not there');
  });
});
