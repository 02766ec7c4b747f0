import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withTemporaryFolder } from '../src/commands/backup/temporary-folder.js';

it('withTemporaryFolder removes its folder even if calls that have begun still create files in the folder', async () => {
  const begun: Promise<unknown>[] = [];
  // Enough rounds to meet the moment at which a call and the removal collide.
  for (let round = 0; round < 50; round++) {
    let folder = '';
    const create = () => (folder = mkdtempSync(join(tmpdir(), 'bakery-temporary-folder-')));
    await withTemporaryFolder(create, () => {
      begun.push(mkdir(join(folder, 'folder')));
      for (let file = 0; file < 20; file++) begun.push(writeFile(join(folder, `file-${file}`), ''));
      return Promise.resolve();
    });
    await Promise.allSettled(begun.splice(0));
    expect(existsSync(folder)).toBe(false);
  }
});
