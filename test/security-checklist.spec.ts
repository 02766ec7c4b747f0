import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** Files between backticks, each with the names between quotes that follow it. */
function citationsIn(text: string): { readonly file: string; readonly names: readonly string[] }[] {
  return [
    ...text.replaceAll(/\s+/g, ' ').matchAll(/`(test\/[\w./-]+\.ts)`: ((?:"[^"]+"(?:,| and)? ?)+)/g),
  ].map(([, file = '', names = '']) => ({
    file,
    names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
  }));
}

/** Names of the tests that a file does not have. */
function missingFrom(file: string, names: readonly string[]): string[] {
  const path = join(ROOT, file);
  const source = existsSync(path) ? readFileSync(path, 'utf8').replaceAll("\\'", "'") : '';
  return names
    .filter((name) => !["'", '"', '`'].some((quote) => source.includes(`${quote}${name}${quote}`)))
    .map((name) => `${file}: ${name}`);
}

describe('docs/security.md', () => {
  const text = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

  it('issue 4, checklist: every test that it names exists', () => {
    const citations = citationsIn(text);
    expect(citations.length).toBeGreaterThan(40);
    expect(citations.flatMap(({ file, names }) => missingFrom(file, names))).toEqual([]);
    // What is written in another form would not be looked for.
    const mentioned = text.match(/`test\/[^`]+`: /g) ?? [];
    expect(citations).toHaveLength(mentioned.length);
  });

  it('issue 4, checklist: has every chapter of the standard but those of what is not here', () => {
    const chapters = [...text.matchAll(/^## V(\d+) /gm)].map(([, number]) => Number(number));
    expect(chapters).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  });

  it('a name that no test has is found missing', () => {
    expect(missingFrom('test/login.e2e-spec.ts', ['no such test'])).toEqual([
      'test/login.e2e-spec.ts: no such test',
    ]);
    expect(missingFrom('test/none.spec.ts', ['any'])).toEqual(['test/none.spec.ts: any']);
    expect(citationsIn('`test/a.spec.ts`: "one" and "two"')).toEqual([
      { file: 'test/a.spec.ts', names: ['one', 'two'] },
    ]);
  });
});
