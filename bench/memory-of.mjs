import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Resident memory of a process in MB (2^20 bytes). */
export async function residentMB(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => null);
  const [, kilobytes] = status === null ? [] : (/^VmRSS:\s+(\d+) kB/m.exec(status) ?? []);
  if (kilobytes !== undefined) return Number(kilobytes) / 1024;
  // macOS has no /proc.
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
