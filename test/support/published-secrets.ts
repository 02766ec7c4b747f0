import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Reads the files from which a reader could copy a secret: documents, examples, deployment files, scripts, tests, the
 * client and the benchmark.
 */
async function readPublishedTexts(): Promise<string[]> {
  const folders = ['.', 'bench', 'client', 'deploy', 'docs', 'examples', 'scripts', 'test'];
  const texts = folders.map(async (folder) => {
    const entries = await readdir(folder, { recursive: folder !== '.', withFileTypes: true });
    const files = entries.filter(
      ({ name, parentPath }) =>
        /\.(ts|tsx|mjs|json|md|yml|sh|example)$/.test(name) &&
        // The storefront's messages contain no secrets, only labels such as `New password`.
        !/node_modules|\bdist\b|storefront\/src\/messages/.test(parentPath) &&
        // The secrets in settings.spec.ts are values of its test cases. CHANGELOG.md and package-lock.json contain no secrets.
        !/^(settings\.spec\.ts|package-lock\.json|CHANGELOG\.md)$/.test(name),
    );
    return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  });
  return (await Promise.all(texts)).flat();
}

/** Patterns of secrets: in code, Midtrans keys, .env lines, Compose defaults and URLs. The last group is the secret. */
const SECRET_PATTERNS = [
  /(?:secret|password|server_?key)\w*["'`]?\s*[:=]\s*(["'`])([^"'`\n]{12,})\1(?=[\s,;)}\]])/gi,
  /(SB-Mid-server-[\w-]+)(?![\w$-])/g,
  /(?:ADMIN_PASSWORD|JWT_\w+_SECRET)='?([^'`\s][^'`\n]+)/g,
  /_(?:PASSWORD|SECRET|KEY):-([^}]+)}/g,
  /[a-z]+:\/\/[^\s'"`/@:]+:([^\s'"`/@$]+)@/g,
];

/** Finds all literals in the published files that are used as secrets. */
export async function findPublishedSecrets(): Promise<string[]> {
  const found = (await readPublishedTexts()).flatMap((text) =>
    SECRET_PATTERNS.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match.at(-1) ?? '')),
  );
  // Messages about a field, purposes of codes, names of limits, commands, templates, hashes and punctuation are not secrets.
  const isSecret = (text: string) =>
    !/^(current )?password |^verify_email$|^password-from$|^openssl rand |\$|^\W+$/.test(text);
  return [...new Set(found)].filter(isSecret);
}
