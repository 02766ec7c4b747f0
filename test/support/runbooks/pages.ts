import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = 'docs/operation';

/** Commands of a runbook, and the output that the page shows below them. */
interface Block {
  readonly commands: string;
  /** Undefined if the page shows no output. */
  readonly shown: string | undefined;
  /** False for a block that the test cannot run. The page says so. */
  readonly isTested: boolean;
}

/** Reads the blocks of a page, in order. */
export async function readBlocks(page: string): Promise<Block[]> {
  const text = await readFile(join(FOLDER, page), 'utf8');
  if (/^```(?!sh$|sh by-hand$|text$|$)/m.test(text))
    throw new Error(`${page} has a block that is neither sh nor text`);
  const blocks = text.matchAll(/^```sh( by-hand)?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms);
  return [...blocks].map(([, mark, commands = '', shown]) => ({
    commands,
    shown,
    isTested: mark === undefined,
  }));
}

/** Builds the pattern of a shown output. A line `…` stands for any lines, and `…` within a line for any text. */
export function toPattern(shown: string): RegExp {
  const lines = shown
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line === '…') return '(?:.*\n)*?';
      return `${line.split('…').map(escapePattern).join('.*')}\n`;
    });
  return new RegExp(`^${lines.join('')}$`);
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
