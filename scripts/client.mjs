// Writes client/schema.d.ts from the OpenAPI document of the build; `--check` only verifies that the file is up to date.
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const HELP = `usage: npm run client [-- --check]

Writes the types of the typed client (client/schema.d.ts) from the OpenAPI document of the built service.
  --check   writes nothing and exits with 1 if the types do not match the service (for CI)`;

const args = process.argv.slice(2);
if (args.some((argument) => argument !== '--check')) {
  console.log(HELP);
  process.exit(args.includes('--help') ? 0 : 2);
}

const root = join(import.meta.dirname, '..');
const target = join(root, 'client', 'schema.d.ts');
const document = execFileSync(process.execPath, [join(root, 'scripts', 'print-openapi.mjs')], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});

const FILE = ts.factory.createTypeReferenceNode('File');
// Examples would be nine tenths of the file. They are in the API reference.
const withoutExamples = (key, value) => (key === 'example' || key === 'examples' ? undefined : value);
const types = await openapiTS(JSON.parse(document, withoutExamples), {
  alphabetize: true,
  // File instead of Blob, because the service needs the file name's extension.
  transform: (schema) => (schema.format === 'binary' ? FILE : undefined),
});
const text = COMMENT_HEADER + astToString(types);

if (!args.includes('--check')) {
  writeFileSync(target, text);
  console.log('client/schema.d.ts has been written');
} else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
  console.error('client/schema.d.ts does not match the service: run `npm run client` and commit the change');
  process.exit(1);
} else {
  console.log('client/schema.d.ts matches the service');
}
