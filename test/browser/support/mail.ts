import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../support/wait.js';
import { outbox } from './settings.js';

/** Returns the code that was last mailed to an address. */
export async function readMailedCode(email: string): Promise<string> {
  return until(`a mail to ${email}`, async () => {
    const names = await readdir(outbox).catch(() => []);
    for (const name of names.sort().reverse()) {
      const mail = name.endsWith('.eml') ? await readFile(join(outbox, name), 'utf8') : '';
      if (!mail.includes(email)) continue;
      // Lines are folded by quoted-printable (RFC 2045, 6.7).
      return /\bis (\d{6})\b/.exec(mail.replaceAll(/=\r?\n/g, '').replaceAll(/\s+/g, ' '))?.[1];
    }
    return null;
  });
}
