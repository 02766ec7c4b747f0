// Writes client/schema.d.ts from the OpenAPI document of the build; `--check` only says whether it is up to date.
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const HELP = `usage: npm run client [-- --check]

Writes the types of the typed client (client/schema.d.ts) from the OpenAPI document of the built service.
  --check   write nothing; exit with 1 if the types are not those of the service (for CI)`;

const args = process.argv.slice(2);
if (args.some((argument) => argument !== '--check')) {
  console.log(HELP);
  process.exit(args.includes('--help') ? 0 : 2);
}

const root = join(import.meta.dirname, '..');
const target = join(root, 'client', 'schema.d.ts');
const document = execFileSync(process.execPath, [join(root, 'dist', 'src', 'print-openapi.js')], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});

const FILE = ts.factory.createTypeReferenceNode('File');
// Examples are for the reference; here they would be nine tenths of the file.
const withoutExamples = (key, value) => (key === 'example' || key === 'examples' ? undefined : value);
const types = await openapiTS(JSON.parse(document, withoutExamples), {
  alphabetize: true,
  // Without a file name the service cannot see an image's extension, so a Blob would not do.
  transform: (schema) => (schema.format === 'binary' ? FILE : undefined),
});
const text = COMMENT_HEADER + astToString(types);

if (!args.includes('--check')) {
  writeFileSync(target, text);
  console.log('client/schema.d.ts is written');
} else if (readIfAny(target) !== text) {
  console.error(
    'client/schema.d.ts is not what the service says: run `npm run client` and commit the change',
  );
  process.exit(1);
} else {
  console.log('client/schema.d.ts is what the service says');
}

function readIfAny(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
