// Fails if a message is not used, if the two languages have different placeholders, or if the contract does not list a message
// of the service. The compiler checks the keys.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadMessages } from './load-messages.mjs';

/** Prefix of the keys that `src/api/errors.ts` builds from messages of the service. */
const SERVICE_PREFIX = 'api:';

const folder = join(import.meta.dirname, '..', 'src');
const names = (await readdir(folder, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
const sources = await Promise.all(
  names.filter((name) => !name.startsWith('messages')).map((name) => readFile(join(folder, name), 'utf8')),
);
const code = sources.join('\n');
const literals = new Set([...code.matchAll(/'([\w.]+)'/g)].map(([, literal]) => literal));
/** Keys with a variable part, such as `status.${status}.text`. */
const templates = [...code.matchAll(/\b(?:t|findText)\(\s*`([^`]+)`/g)].map(
  ([, text]) => new RegExp(`^${text.replaceAll('.', '\\.').replaceAll(/\$\{[^}]+\}/g, '\\w+')}$`),
);

const contract = await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'contract.md'), 'utf8');

const [en, id] = [await loadMessages('en'), await loadMessages('id')];
const problems = Object.keys(en).flatMap((key) => {
  const isUsed =
    key.startsWith(SERVICE_PREFIX) || literals.has(key) || templates.some((template) => template.test(key));
  const hasSamePlaceholders = listPlaceholders(en[key]) === listPlaceholders(id[key]);
  return [
    ...(isUsed ? [] : [`${key} is not used`]),
    ...(hasSamePlaceholders ? [] : [`${key} has different placeholders in the two languages`]),
  ];
});
// The Indonesian file also contains messages that read the same in English.
for (const key of Object.keys({ ...en, ...id }).filter((each) => each.startsWith(SERVICE_PREFIX)))
  if (!contract.includes(`\`${key.slice(SERVICE_PREFIX.length)}\``))
    problems.push(`the contract does not list ${key}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function listPlaceholders(text) {
  return [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name))].sort().join();
}
