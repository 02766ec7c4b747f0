import { MemoryContent } from './content/memory-content.js';
import type { Content } from './image-host.js';
import type { MemoryBudget } from './memory-budget.js';
import { SpoolFile } from './spool-file.js';

/** Largest file that is kept in memory, where a disk would cost more than the rest of its request. */
const SMALL_BYTES = 256 * 1024;

/** The files of one request, from their first byte until `close`. */
export class ReceivedFiles {
  #spool: Promise<SpoolFile> | undefined;
  #taken = 0;
  #isClosed = false;
  #last: Promise<unknown> = Promise.resolve();

  /** @param directory of what does not stay in memory */
  constructor(
    private readonly directory: string,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Keeps a file, after those that came before it. Reads its stream to the end whatever happens, because a form stops
   * at a file that nobody reads.
   * @throws SpoolError, and what the stream reports
   */
  receive(stream: AsyncIterable<Buffer>): Promise<Content> {
    const received = this.#last.then(() => this.#receive(stream));
    this.#last = received.catch(() => undefined); // Reported to whoever waits for that file.
    return received;
  }

  /** Gives back memory and disk; what still comes is dropped. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.memory.giveBack(this.#taken);
    const spool = await this.#spool?.catch(() => undefined); // Reported by `receive`.
    await spool?.close();
  }

  async #receive(stream: AsyncIterable<Buffer>): Promise<Content> {
    const file = new IncomingFile(
      (bytes) => this.#take(bytes),
      () => this.#openSpool(),
    );
    let failure: { readonly error: unknown } | undefined;
    for await (const piece of stream) {
      if (this.#isClosed || failure !== undefined) continue;
      await file.add(piece).catch((error: unknown) => {
        failure = { error };
      });
    }
    if (failure !== undefined) throw failure.error;
    return file.content();
  }

  #take(bytes: number): boolean {
    if (!this.memory.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  #openSpool(): Promise<SpoolFile> {
    return (this.#spool ??= SpoolFile.open(this.directory));
  }
}

/** A file that stays in memory while it is small and there is room, and moves to disk else. */
class IncomingFile {
  readonly #kept: Buffer[] = [];
  #size = 0;
  #spooled: { readonly spool: SpoolFile; readonly start: number } | undefined;

  constructor(
    private readonly take: (bytes: number) => boolean,
    private readonly openSpool: () => Promise<SpoolFile>,
  ) {}

  async add(piece: Buffer): Promise<void> {
    this.#size += piece.length;
    if (this.#spooled === undefined && this.#size <= SMALL_BYTES && this.take(piece.length)) {
      this.#kept.push(piece);
      return;
    }
    if (this.#spooled === undefined) {
      const spool = await this.openSpool();
      this.#spooled = { spool, start: spool.size };
    }
    for (const bytes of [...this.#kept.splice(0), piece]) await this.#spooled.spool.append(bytes);
  }

  content(): Content {
    const { spool, start } = this.#spooled ?? {};
    if (spool !== undefined && start !== undefined) return spool.slice(start, this.#size);
    // A copy of its own: the pieces are parts of larger buffers, which would be kept with them.
    return new MemoryContent(Buffer.concat(this.#kept));
  }
}
