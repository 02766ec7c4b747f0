import { Injectable, Logger } from '@nestjs/common';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Env } from '../config/env.js';
import { MemoryBudget } from './memory-budget.js';
import { ReceivedFiles } from './received-files.js';

/** Bytes of small pictures that all requests together keep in memory; above, they go to disk as the others do. */
const MEMORY_BYTES = 16 * 1024 * 1024;
/** Between opening a file and unlinking it lie microseconds: what still has its name after this was left by a crash. */
const ABANDONED_AFTER_MS = 60_000;

/** Where uploads are kept for the length of their request: small ones in memory, others on disk. */
@Injectable()
export class UploadSpool {
  readonly #logger = new Logger('Uploads');
  readonly #directory: string;
  readonly #memory = new MemoryBudget(MEMORY_BYTES);

  constructor({ dataDir }: Env) {
    this.#directory = join(dataDir, 'uploads');
  }

  /** For the files of one request, who has to close it. */
  begin(): ReceivedFiles {
    return new ReceivedFiles(this.#directory, this.#memory);
  }

  /** A process that died between two system calls leaves an empty file. */
  async onModuleInit(): Promise<void> {
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      for (const name of await readdir(this.#directory))
        await this.#removeAbandoned(join(this.#directory, name));
    } catch (error) {
      this.#logger.warn('leftovers of uploads could not be looked for', error);
    }
  }

  async #removeAbandoned(path: string): Promise<void> {
    // Another process on the same folder may have unlinked it meanwhile.
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}
