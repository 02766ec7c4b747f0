import { type Failure, failures } from './errors/failures.js';

interface WaitingTask {
  readonly size: number;
  readonly begin: () => void;
  readonly reject: (reason: Failure) => void;
}

interface TaskOptions {
  /** Client that waits for the task. Tasks without a client take turns as the tasks of one client. */
  readonly client?: string;
  /** Aborted when the client disconnects. A task that still waits is dropped then. */
  readonly disconnected?: AbortSignal | undefined;
  /** Part of the capacity that the task needs; 1 by default. */
  readonly size?: number;
}

/**
 * Limits the total size of the tasks that run at a time. Clients with waiting tasks are served in turn, so that a client with
 * many tasks does not delay the others. If too many tasks wait, the newest task of the client with the most tasks is rejected.
 */
export class FairQueue {
  /** Waiting tasks by client, oldest first. The first client is served next. */
  readonly #waiting = new Map<string, WaitingTask[]>();
  #waitingCount = 0;
  #free: number;

  /**
   * @param capacity largest total size of the tasks that run
   * @param maxWaitMs longest wait of a task before it begins; unlimited by default
   */
  constructor(
    private readonly capacity: number,
    private readonly maxWaiting = Infinity,
    private readonly maxWaitMs?: number,
  ) {
    this.#free = capacity;
  }

  /** @throws Failure 503 if too many tasks wait or the wait is too long, 400 if the client has disconnected */
  async run<T>(
    task: () => Promise<T>,
    { client = '', disconnected, size = 1 }: TaskOptions = {},
  ): Promise<T> {
    if (size > this.capacity) throw new Error(`a task of the size ${size} can never run`);
    await this.#enter(client, disconnected, size);
    try {
      return await task();
    } finally {
      this.#free += size;
      this.#beginNext();
    }
  }

  async #enter(client: string, disconnected: AbortSignal | undefined, size: number): Promise<void> {
    if (disconnected?.aborted) throw failures.malformedRequest();
    let drop: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((begin, reject) => {
      const task = { size, begin, reject };
      this.#waiting.set(client, [...(this.#waiting.get(client) ?? []), task]);
      this.#waitingCount += 1;
      const end = (reason: Failure) => {
        this.#remove(client, task);
        reject(reason);
        this.#beginNext();
      };
      drop = () => {
        end(failures.malformedRequest());
      };
      disconnected?.addEventListener('abort', drop);
      if (this.maxWaitMs !== undefined)
        timer = setTimeout(() => {
          end(failures.unavailable(`a task waited for ${this.maxWaitMs} ms`));
        }, this.maxWaitMs);
      this.#beginNext();
      if (this.#waitingCount > this.maxWaiting) this.#rejectNewestTaskOfBusiestClient();
    }).finally(() => {
      disconnected?.removeEventListener('abort', drop);
      clearTimeout(timer);
    });
  }

  /** Begins waiting tasks until the next one does not fit. */
  #beginNext(): void {
    for (const [client, [next]] of this.#waiting) {
      if (next === undefined || next.size > this.#free) return;
      this.#remove(client, next);
      // Move the client to the end of the map: the other clients are served first.
      const rest = this.#waiting.get(client);
      this.#waiting.delete(client);
      if (rest !== undefined) this.#waiting.set(client, rest);
      this.#free -= next.size;
      next.begin();
    }
  }

  #rejectNewestTaskOfBusiestClient(): void {
    const [client, tasks] = [...this.#waiting].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    const newest = tasks.at(-1);
    if (newest === undefined) return;
    this.#remove(client, newest);
    newest.reject(failures.unavailable(`${this.maxWaiting} tasks wait already`));
  }

  #remove(client: string, task: WaitingTask): void {
    const tasks = this.#waiting.get(client);
    if (tasks?.includes(task) !== true) return;
    this.#waitingCount -= 1;
    if (tasks.length === 1) this.#waiting.delete(client);
    else tasks.splice(tasks.indexOf(task), 1);
  }
}
