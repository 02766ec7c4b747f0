import { readFile } from 'node:fs/promises';
import { transformWithOxc } from 'vite';

/** Returns the messages of `src/messages/<language>.ts` by key. */
export async function loadMessages(language) {
  const file = new URL(`../src/messages/${language}.ts`, import.meta.url);
  const { code } = await transformWithOxc(await readFile(file, 'utf8'), file.pathname);
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return module[language];
}
