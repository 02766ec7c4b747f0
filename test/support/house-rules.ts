import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** TypeScript sources by path from the root of the repository, for example `src/auth/auth.module.ts`. */
export type Sources = ReadonlyMap<string, string>;

/** Which rooms of `src` a room may import besides itself, `common` and `config`, and what those may. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  payments: ['orders', 'gateway'],
  orders: ['products', 'gateway', 'auth'],
  products: ['images', 'auth'],
  images: ['jobs'],
  auth: ['users', 'mail'],
  users: [],
  mail: ['jobs'],
  jobs: [],
  gateway: ['jobs'],
  health: ['jobs'],
  metrics: ['jobs'],
  tracing: [],
};
/** Rooms that every room may import; `common` may import `config`. */
const GROUND: Readonly<Record<string, readonly string[]>> = { common: ['config'], config: [] };
/** What starts the service: files of `src` itself and `src/commands`. They may import all and nobody imports them. */
const STARTERS = new Set(['.', 'commands']);
const AT_HOME = /\.(entity|repository|controller)\.ts$/;
const SILENCERS = /eslint-disable|@ts-(ignore|expect-error|nocheck)/;
const MAX_LINES = 250;

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Every breach of architecture.md in these sources, as a sentence that begins with the file. */
export function breaches(sources: Sources): string[] {
  const files = [...sources].map(([path, text]) =>
    ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true),
  );
  const imports = files.flatMap((file) => importsOf(file, sources));
  return [
    ...imports.flatMap(breachOfArrow),
    ...circles(imports).map((circle) => `${circle[0] ?? ''}: circle of files ${circle.join(' → ')}`),
    ...circles(betweenRooms(imports)).map((circle) => `src: circle of rooms ${circle.join(' → ')}`),
    ...files.flatMap(breachesWithin),
  ];
}

function isOfSrc(path: string): boolean {
  return path.startsWith('src/');
}

function roomOf(path: string): string {
  const [, room, file] = path.split('/');
  return file === undefined ? '.' : (room ?? '.');
}

/** Relative imports of any kind, static, dynamic or of a type alone. */
function importsOf(file: ts.SourceFile, sources: Sources): Import[] {
  const specifiers: ts.Node[] = [];
  visit(file, (node) => {
    if (ts.isImportDeclaration(node)) specifiers.push(node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined)
      specifiers.push(node.moduleSpecifier);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      specifiers.push(node.argument.literal);
    else if (ts.isCallExpression(node) && isLoading(node.expression)) specifiers.push(...node.arguments);
  });
  return specifiers
    .filter(ts.isStringLiteralLike)
    .filter(({ text }) => text.startsWith('.'))
    .map(({ text }) => join(dirname(file.fileName), text.replace(/\.js$/, '.ts')))
    .map((to) => {
      if (isOfSrc(to) && !sources.has(to))
        throw new Error(`${file.fileName} imports ${to}, which is not there`);
      return { from: file.fileName, to };
    });
}

function isLoading(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
  );
}

function breachOfArrow({ from, to }: Import): string[] {
  if (!isOfSrc(from)) return [];
  const [room, other] = [roomOf(from), roomOf(to)];
  if (!isOfSrc(to))
    return to.startsWith('migrations/') && room === 'config' ? [] : [`${from}: imports ${to}, outside src`];
  if (room === other) return [];
  if (STARTERS.has(other)) return [`${from}: imports ${to}, which starts the service`];
  const problems = AT_HOME.test(to) ? [`${from}: imports ${to}, which stays in its room`] : [];
  if (STARTERS.has(room)) return problems;
  if (!(room in ARROWS) && !(room in GROUND)) return [`${from}: the room ${room} is not in architecture.md`];
  if (!reachable(room).has(other)) problems.push(`${from}: imports ${to}, against the arrows`);
  return problems;
}

/** The rooms along the arrows from a room. */
function reachable(room: string): Set<string> {
  if (room in GROUND) return new Set(GROUND[room]);
  const next = ARROWS[room] ?? [];
  return new Set([...Object.keys(GROUND), ...next, ...next.flatMap((other) => [...reachable(other)])]);
}

function betweenRooms(imports: readonly Import[]): Import[] {
  return imports
    .filter(({ from, to }) => isOfSrc(from) && isOfSrc(to))
    .map(({ from, to }) => ({ from: roomOf(from), to: roomOf(to) }))
    .filter(({ from, to }) => from !== to);
}

/** One circle through each import that closes one, found depth first. */
function circles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of imports) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const found: string[][] = [];
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node);
    if (start !== -1) found.push([...path.slice(start), node]);
    if (start !== -1 || done.has(node)) return;
    for (const target of targets.get(node) ?? []) walk(target, [...path, node]);
    done.add(node);
  };
  for (const node of targets.keys()) walk(node, []);
  return found;
}

function breachesWithin(file: ts.SourceFile): string[] {
  const path = file.fileName;
  const problems = new Set<string>();
  visit(file, (node) => {
    if (SILENCERS.test(triviaBefore(node, file))) problems.add(`${path}: silences a rule`);
    if (!isOfSrc(path)) return;
    if (node.kind === ts.SyntaxKind.AnyKeyword) problems.add(`${path}: uses any`);
    if (ts.isIdentifier(node) && node.text === 'forwardRef') problems.add(`${path}: uses forwardRef`);
    if (roomOf(path) !== 'config' && readsEnvironment(node)) problems.add(`${path}: reads process.env`);
    if (roomOf(path) in ARROWS && ts.isIdentifier(node) && node.text === 'Global')
      problems.add(`${path}: is @Global`);
    if (ts.isExportDeclaration(node) && node.exportClause === undefined) problems.add(`${path}: is a barrel`);
  });
  if (isOfSrc(path)) {
    if (path.endsWith('/index.ts')) problems.add(`${path}: is a barrel`);
    const lines = file.text.trimEnd().split('\n').length;
    if (lines > MAX_LINES) problems.add(`${path}: has ${lines} lines, more than ${MAX_LINES}`);
  }
  return [...problems];
}

/** `process.env`, `process['env']`, `{ env } = process` and the import of `env` or of `process` under any name. */
function readsEnvironment(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
    return /^(node:)?process$/.test(node.moduleSpecifier.text);
  if (ts.isVariableDeclaration(node))
    return (
      ts.isObjectBindingPattern(node.name) && node.initializer !== undefined && isProcess(node.initializer)
    );
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  return ts.isElementAccessExpression(node) && isProcess(node.expression);
}

function isProcess(node: ts.Expression): boolean {
  return (
    (ts.isIdentifier(node) && node.text === 'process') ||
    (ts.isPropertyAccessExpression(node) && node.name.text === 'process')
  );
}

/** White space and comments in front of a token; those after the last one stand before the end of the file. */
function triviaBefore(node: ts.Node, file: ts.SourceFile): string {
  return node.kind === ts.SyntaxKind.SourceFile ? '' : file.text.slice(node.pos, node.getStart(file));
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  // Tokens too, which `forEachChild` leaves out; a comment may stand before any of them.
  for (const child of node.getChildren()) if (!ts.isJSDoc(child)) visit(child, see);
}
