import { type Failure, failures } from './errors/failures.js';

interface FairQueueOptions {
  /** Largest total size of the tasks that run at a time. */
  readonly capacity: number;
  /** Largest number of tasks that wait; unlimited by default. */
  readonly maxWaiting?: number;
  /** Longest time that a task waits; unlimited by default. */
  readonly maxWaitMs?: number;
}

interface TaskOptions {
  /** Client that waits for the task. Tasks without a client take turns as the tasks of one client. */
  readonly client?: string;
  /** Aborted when the client disconnects. A task that still waits is rejected then. */
  readonly disconnectSignal?: AbortSignal | undefined;
  /** Part of the capacity that the task needs; 1 by default. */
  readonly size?: number;
}

/** Task that waits for its turn. `turn` resolves when the task may begin. */
class WaitingTask {
  begin!: () => void;
  reject!: (reason: Failure) => void;
  readonly turn = new Promise<void>((begin, reject) => {
    this.begin = begin;
    this.reject = reject;
  });

  constructor(
    readonly client: string,
    readonly size: number,
  ) {}
}

/**
 * Limits the total size of the tasks that run at a time. Clients with waiting tasks are served in turn, so that a client with
 * many tasks does not delay the others. If too many tasks wait, the newest task of the client with the most waiting tasks is
 * rejected; of several such clients, of the one that is served last.
 */
export class FairQueue {
  /** Waiting tasks by client, oldest first. The first client is served next. */
  readonly #waiting = new Map<string, readonly WaitingTask[]>();
  #free: number;

  constructor(private readonly options: FairQueueOptions) {
    this.#free = options.capacity;
  }

  /** @throws Failure 503 if too many tasks wait or the wait is too long, 400 if the client has disconnected */
  async run<T>(
    task: () => Promise<T>,
    { client = '', disconnectSignal, size = 1 }: TaskOptions = {},
  ): Promise<T> {
    if (size > this.options.capacity) throw new Error(`a task of the size ${size} can never run`);
    if (disconnectSignal?.aborted) throw failures.malformedRequest();
    await this.#waitForTurn(new WaitingTask(client, size), disconnectSignal);
    try {
      return await task();
    } finally {
      this.#free += size;
      this.#beginTasks();
    }
  }

  async #waitForTurn(task: WaitingTask, disconnectSignal: AbortSignal | undefined): Promise<void> {
    const { maxWaitMs } = this.options;
    const handleDisconnect = () => {
      this.#reject(task, failures.malformedRequest());
    };
    const handleTimeout = () => {
      this.#reject(task, failures.unavailable(`a task waited for ${String(maxWaitMs)} ms`));
    };
    disconnectSignal?.addEventListener('abort', handleDisconnect);
    const timer = maxWaitMs === undefined ? undefined : setTimeout(handleTimeout, maxWaitMs);
    this.#waiting.set(task.client, [...(this.#waiting.get(task.client) ?? []), task]);
    this.#beginTasks();
    this.#rejectExcessTask();
    try {
      await task.turn;
    } finally {
      disconnectSignal?.removeEventListener('abort', handleDisconnect);
      clearTimeout(timer);
    }
  }

  /** Begins waiting tasks until the next one does not fit. */
  #beginTasks(): void {
    for (const [client, [next, ...rest]] of this.#waiting) {
      if (next === undefined || next.size > this.#free) return;
      // Move the client to the end of the map: the other clients are served first.
      this.#waiting.delete(client);
      if (rest.length > 0) this.#waiting.set(client, rest);
      this.#free -= next.size;
      next.begin();
    }
  }

  /** Rejects the newest task of the client with the most waiting tasks, if too many tasks wait. */
  #rejectExcessTask(): void {
    const { maxWaiting = Infinity } = this.options;
    const waiting = [...this.#waiting.values()];
    if (waiting.flat().length <= maxWaiting) return;
    const newest = waiting.reduce((a, b) => (b.length >= a.length ? b : a)).at(-1);
    if (newest !== undefined) this.#reject(newest, failures.unavailable(`${maxWaiting} tasks wait already`));
  }

  #reject(task: WaitingTask, reason: Failure): void {
    const rest = this.#waiting.get(task.client)?.filter((other) => other !== task) ?? [];
    if (rest.length > 0) this.#waiting.set(task.client, rest);
    else this.#waiting.delete(task.client);
    task.reject(reason);
    // Smaller tasks may have waited behind this one.
    this.#beginTasks();
  }
}
