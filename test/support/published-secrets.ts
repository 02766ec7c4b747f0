import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of files that are not read. */
const UNREAD = [
  /\.(jpg|png)$/, // binary
  /(^|\/)(node_modules|dist)\//, // not in the repository
  /(^|\/)\.env$/, // not in the repository: settings of the developer
  /storefront\/src\/messages\//, // contains labels such as `New password`, but no secrets
  /(^|\/)(CHANGELOG\.md|package-lock\.json)$/, // contains no secrets
  /settings\.spec\.ts$/, // contains secrets that only its test cases use
];

/**
 * Reads the files from which a reader could copy a secret: documents, examples, deployment files, scripts, tests, the
 * client and the benchmark.
 */
async function readPublishedTexts(): Promise<string[]> {
  const folders = ['.', '.ci', 'bench', 'client', 'deploy', 'docs', 'examples', 'scripts', 'test'];
  const texts = folders.map(async (folder) => {
    const entries = await readdir(folder, { recursive: folder !== '.', withFileTypes: true });
    const files = entries.filter(
      (entry) => entry.isFile() && !UNREAD.some((path) => path.test(join(entry.parentPath, entry.name))),
    );
    return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  });
  return (await Promise.all(texts)).flat();
}

/** Patterns of secrets: in code, Midtrans keys, lines of .env or YAML files, Compose defaults and URLs. The last group is the secret. */
const SECRET_PATTERNS = [
  /(?:secret|password|server_?key)\w*["'`]?\s*[:=]\s*(["'`])([^"'`\n]{12,})\1(?=[\s,;)}\]])/gi,
  /(SB-Mid-server-[\w-]+)(?![\w$-])/g,
  // A line with a colon that ends with a comma is code, not YAML.
  /(?:ADMIN_PASSWORD|JWT_\w+_SECRET)(?:='?|: +(?!.*,$))([^"'`\s][^'`\n]+)/gm,
  /_(?:PASSWORD|SECRET|KEY):-([^}]+)}/g,
  /[a-z]+:\/\/[^\s'"`/@:]+:([^\s'"`/@$]+)@/g,
];

/** Texts that match SECRET_PATTERNS but are not secrets. */
const EXCEPTIONS = [
  /^(current )?password /, // message about a field
  /^verify_email$/, // purpose of a code
  /^password-from$/, // name of a count
  /^openssl rand /, // command that prints a random secret
  /\$[{(]/, // template whose value is not in the file
  /^\W+$/, // punctuation
];

/** Finds all literals in the published files that are used as secrets. */
export async function findPublishedSecrets(): Promise<string[]> {
  const found = (await readPublishedTexts()).flatMap((text) =>
    SECRET_PATTERNS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match.at(-1) ?? '')),
  );
  return [...new Set(found)].filter((text) => !EXCEPTIONS.some((pattern) => pattern.test(text)));
}
