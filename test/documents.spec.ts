import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';

const CODE_FOLDERS = ['src', 'migrations', 'test', 'client', 'bench', 'scripts', 'deploy', 'examples'];

/** Reads the files below these paths, by path. Node's modules and builds are left out. */
function readFiles(paths: readonly string[], pattern: RegExp): Map<string, string> {
  const files = paths.flatMap((path) => {
    const entries = readdirSync(path, { withFileTypes: true });
    const isOurs = (name: string) => !/^(node_modules|dist|\.git|\.data)$/.test(name);
    const folders = entries.filter((entry) => entry.isDirectory() && path !== '.' && isOurs(entry.name));
    const below = readFiles(
      folders.map(({ name }) => join(path, name)),
      pattern,
    );
    const here = entries.filter((entry) => entry.isFile() && pattern.test(entry.name));
    return [
      ...here.map(({ name }) => [join(path, name), readFileSync(join(path, name), 'utf8')] as const),
      ...below,
    ];
  });
  return new Map(files);
}

const code = readFiles(
  ['.', ...CODE_FOLDERS],
  /(\.(ts|tsx|mjs|js|json|ya?ml|sh|conf|cfg)|^\.env\.example|^Dockerfile|^bakery)$/,
);
const allCode = [...code.values()].join('\n');
const sources = [...code].filter(([path]) => path.startsWith('src/')).map(([, text]) => text);
/** Documents that describe the present. The changelog also describes the past. */
const documents = readFiles(['.', 'docs', ...CODE_FOLDERS], /(?<!^CHANGELOG)\.md$/);
const contract = documents.get('docs/contract.md') ?? '';

/** Lists the code spans in the text of the documents, without fenced blocks: `path: span`. */
function listSpans(texts: ReadonlyMap<string, string> = documents): { path: string; span: string }[] {
  return [...texts].flatMap(([path, text]) => {
    const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
    return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => ({ path, span }));
  });
}

/** Lists what a pattern finds in code spans and `isKnown` does not accept. */
function listUnknown(pattern: RegExp, isKnown: (name: string) => boolean): string[] {
  return listSpans().flatMap(({ path, span }) =>
    [...span.matchAll(pattern)].filter(([name]) => !isKnown(name)).map(([name]) => `${path}: ${name}`),
  );
}

/** Sections of the contract. An item of a numbered list directly in a section counts too: 10.7. */
const sections = new Set(
  contract.split(/^(?=##+ \d)/m).flatMap((section) => {
    const [, number = ''] = /^##+ (\d+(?:\.\d+)*)/.exec(section) ?? [];
    const items = [...section.matchAll(/^(\d+)\. /gm)].map(([, item]) => `${number}.${item}`);
    return [number, ...items];
  }),
);

it('the documents were found', () => {
  expect([...documents.keys()]).toEqual(
    expect.arrayContaining(['README.md', 'docs/contract.md', 'client/README.md', 'bench/README.md']),
  );
});

it('every metric that a document names is defined', () => {
  const defined = new Set(sources.join().match(/(?<=')(bakery|http_server|db_client)_\w+(?=')/g));
  const isDefined = (name: string) =>
    defined.has(name.replace(/_(bucket|sum|count)$/, '')) || defined.has(name);
  expect(listUnknown(/^(bakery|http_server|db_client)_\w+(?=$|\{)/g, isDefined)).toEqual([]);
});

it('the contract lists the settings of .env.example, and other documents name only variables that the code reads', () => {
  const example = code.get('.env.example')?.match(/^[A-Z_]+(?==)/gm) ?? [];
  const [, table = ''] = /\n## 15\. [^]*?\n(\|[^]*?)\n\n/.exec(contract) ?? [];
  const rows = table.match(/^\| .*? \|/gm)?.join() ?? '';
  const listed = rows.match(/(?<=`)[A-Z_]+(?=`)/g) ?? [];
  const traces = (name: string) => name.startsWith('OTEL_');
  expect(listed.filter((name) => !traces(name)).sort()).toEqual(
    example.filter((name) => !traces(name)).sort(),
  );
  const isRead = (name: string) => new RegExp(`\\b${name}\\b`).test(allCode);
  expect(listUnknown(/^[A-Z][A-Z\d]*(_[A-Z\d]+)+(?==|$)/g, isRead)).toEqual([]);
});

it('the contract lists every failure, and its messages are those of the code', () => {
  const [, listOfFailures = ''] = /\n## 7\. ([^]*?)\n## 8\. /.exec(contract) ?? [];
  const failures = code.get('src/common/errors/failures.ts') ?? '';
  const thrown = [...failures.matchAll(/new Failure\((\d+), (['"])(.*?)\2/g)];
  expect(thrown.length).toBeGreaterThan(20);
  const missing = thrown.filter(
    ([, status, , message]) => !new RegExp(`^\\| ${status} \\| .*\`${message}\``, 'm').test(listOfFailures),
  );
  expect(missing.map(([text]) => text)).toEqual([]);

  // A message of the code can contain values: `name can have ${max} characters at max`.
  const strings = sources
    .join('\n')
    .replaceAll(/(['"`]) \+\s*(['"`])/g, '')
    .matchAll(/(['"`])((?:[^'"`\\\n]|(?!\1)['"`]|\\.)*)\1/g);
  const known = [...strings].flatMap(([, , text = '']) => {
    const parts = text.split(/\$\{[^}]*\}|\$property/);
    const isMessage = parts.join('').trim().includes(' ') || parts.some((part) => part.length > 10);
    return isMessage
      ? [new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w\s]/g, '\\$&')).join('.+')}$`)]
      : [];
  });
  const messages = listSpans(new Map([['contract', contract]]))
    .map(({ span }) => span)
    .filter((span) => /^[a-z<][\w<>.]* (is|are|should|can|contains|needs|belong|took|was)\b/.test(span));
  expect(messages.length).toBeGreaterThan(60);
  expect(messages.filter((message) => !known.some((pattern) => pattern.test(message)))).toEqual([]);
});

it('every path that a document names exists', () => {
  // CONTRIBUTING.md shows the files of a feature that does not exist.
  const isExample = (path: string) => path.includes('rating');
  const pattern = new RegExp(`^(${[...CODE_FOLDERS, 'docs'].join('|')})/[\\w./-]+$`, 'g');
  expect(listUnknown(pattern, (path) => existsSync(path) || isExample(path))).toEqual([]);
});

it('every section of the contract and every decision that code and documents cite exists', () => {
  const texts = [...code, ...documents];
  const cited = texts.flatMap(([path, text]) => {
    const ofContract = [...text.matchAll(/\bcontract,? (?:section )?(\d+(?:\.\d+)*)/gi)].filter(
      ([, section = '']) => !sections.has(section),
    );
    const decisions = [...text.matchAll(/\b(?:docs\/)?decisions?[/ ](\d+)\b/gi)].filter(
      ([, number = '']) =>
        ![...documents.keys()].some((name) => name.startsWith(`docs/decisions/${number.padStart(2, '0')}-`)),
    );
    return [...ofContract, ...decisions].map(([reference]) => `${path}: ${reference}`);
  });
  expect(cited).toEqual([]);
  const within = [...contract.matchAll(/\((?:[^()`]*? )?(\d+\.\d+(?:\.\d+)?)[,)]/g)].filter(
    ([, section = '']) => !sections.has(section),
  );
  expect(within.map(([text]) => text)).toEqual([]);
});
