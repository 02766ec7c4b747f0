import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

const ROOT = join(import.meta.dirname, '..');

/** Modules that every other module may import. */
const BASIS = ['database', 'config', 'common'];
/** Files directly in `src` and the commands assemble the modules: they may import every module. No module imports them. */
const STARTERS = ['src', 'commands'];
/** Modules that each module may import, transitively, as the table in docs/architecture.md lists them. */
const MAY_IMPORT = readTableOfModules();

/** Files that no other module imports. Exceptions: the type of an entity, and relations between entities. */
const MODULE_PRIVATE = /\.(entity|repository)\.ts$/;

const sources = new Map(
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [`src/${path}`, readFileSync(join(ROOT, 'src', path), 'utf8')]),
);

function readTableOfModules(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, table = ''] = /\n## Modules\n([^]*?)\n## /.exec(text) ?? [];
  const rows = table.matchAll(/^\| `(\w+)` \| .* \| (.*?) \|$/gm);
  return new Map(
    [...rows].map(([, module = '', cell = '']) => [module, cell.match(/(?<=`)\w+(?=`)/g) ?? []]),
  );
}

function moduleOf(path: string): string {
  const [src = '', folder = '', file] = path.split('/');
  return file === undefined ? src : folder;
}

/** Paths of the sources that a source imports, types included. `text`: by default the whole source. */
function parseImports(path: string, text = sources.get(path) ?? ''): string[] {
  const imports = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g);
  return [...imports].map(([, specifier = '']) => join(dirname(path), specifier).replace(/\.js$/, '.ts'));
}

function reachableFrom(module: string): string[] {
  const direct = MAY_IMPORT.get(module) ?? [];
  const shared = BASIS.includes(module) ? [] : BASIS;
  return [module, ...[...shared, ...direct].flatMap(reachableFrom)];
}

function importsOnlyTypes(from: string, to: string): boolean {
  const withoutTypes = (sources.get(from) ?? '').replaceAll(/^(import|export) type [^;]*;/gm, '');
  return !parseImports(from, withoutTypes).includes(to);
}

function mayImport(from: string, to: string): boolean {
  const [module, other] = [moduleOf(from), moduleOf(to)];
  if (to.startsWith('migrations/')) return module === 'database';
  const isAllowedEntity =
    to.endsWith('.entity.ts') && (from.endsWith('.entity.ts') || importsOnlyTypes(from, to));
  if (module !== other && MODULE_PRIVATE.test(to) && !isAllowedEntity) return false;
  return STARTERS.includes(module) || reachableFrom(module).includes(other);
}

it('modules import only allowed modules, no repository of another module, and entities of another module only as types or for relations', () => {
  expect(sources.size).toBeGreaterThan(80);
  expect(new Set([...sources.keys()].map(moduleOf))).toEqual(new Set([...MAY_IMPORT.keys(), ...STARTERS]));
  for (const path of sources.keys())
    for (const imported of parseImports(path))
      expect([path, imported, mayImport(path, imported)]).toEqual([path, imported, true]);
});

it('imports between sources contain no cycles', () => {
  const left = new Map([...sources.keys()].map((path) => [path, parseImports(path)]));
  const withoutImports = () => [...left].filter(([, imports]) => !imports.some((path) => left.has(path)));
  for (let found = withoutImports(); found.length > 0; found = withoutImports()) {
    for (const [path] of found) left.delete(path);
  }
  expect([...left.keys()]).toEqual([]);
});

it('no source is named index.ts', () => {
  expect([...sources.keys()].filter((path) => path.endsWith('/index.ts'))).toEqual([]);
});
