import { FairQueue } from '../src/common/fair-queue.js';
import { MESSAGES } from './support/failure.js';

/** Starts tasks that each run until `finishNext`. `clients`: one letter for each task. */
function startTasks(queue: FairQueue, clients: string, sizes: readonly number[] = []) {
  const started: string[] = [];
  const running: (() => void)[] = [];
  const results = Array.from(clients, (client, index) => {
    const task = async (): Promise<void> => {
      started.push(`${client}${index}`);
      await new Promise<void>((finish) => running.push(finish));
    };
    return queue.run(task, { client, size: sizes[index] ?? 1 });
  });
  for (const result of results) result.catch(() => undefined); // Handled by the test, but later.
  const finishNext = async (): Promise<void> => {
    running.shift()?.();
    await new Promise(setImmediate);
  };
  const finishAll = async (): Promise<void> => {
    await new Promise(setImmediate);
    while (running.length > 0) await finishNext();
    await Promise.allSettled(results);
  };
  return { started, results, finishNext, finishAll };
}

describe('a FairQueue', () => {
  it.each([
    ['aaaabc', ['a0', 'a1', 'b4', 'c5', 'a2', 'a3']],
    ['aabba', ['a0', 'a1', 'b2', 'a4', 'b3']],
    ['abcabc', ['a0', 'b1', 'c2', 'a3', 'b4', 'c5']],
  ])('serves the clients of waiting tasks %s in turn', async (clients, expected) => {
    const { started, finishAll } = startTasks(new FairQueue({ capacity: 1 }), clients);
    await finishAll();
    expect(started).toEqual(expected);
  });

  it('rejects the client that came last if too many wait and each has one task', async () => {
    const { started, finishAll } = startTasks(new FairQueue({ capacity: 1, maxWaiting: 1 }), 'abc');
    await finishAll();
    expect(started).toEqual(['a0', 'b1']);
  });

  it('rejects the newest task of the client with the most waiting tasks with 503 if too many wait', async () => {
    const { started, results, finishAll } = startTasks(
      new FairQueue({ capacity: 1, maxWaiting: 3 }),
      'aaaaab',
    );
    await finishAll();
    expect(started).toHaveLength(4);
    expect(started).toContain('b5');
    const settled = await Promise.allSettled(results);
    const rejection = { status: 'rejected', reason: { status: 503, message: MESSAGES.unavailable } };
    expect(settled.slice(3, 5)).toMatchObject([rejection, rejection]);
  });

  it('begins a task when its size fits, and lets no smaller task overtake it', async () => {
    const queue = new FairQueue({ capacity: 10 });
    const { started, finishNext, finishAll } = startTasks(queue, 'abcd', [4, 5, 10, 1]);
    await new Promise(setImmediate);
    expect(started).toEqual(['a0', 'b1']);
    await finishNext();
    expect(started).toEqual(['a0', 'b1']);
    await finishNext();
    expect(started).toEqual(['a0', 'b1', 'c2']);
    await finishAll();
    expect(started).toEqual(['a0', 'b1', 'c2', 'd3']);
  });

  it('rejects a waiting task whose client disconnects, and begins the next task', async () => {
    const queue = new FairQueue({ capacity: 10 });
    const { finishAll } = startTasks(queue, 'a');
    const disconnection = new AbortController();
    const options = { client: 'b', disconnectSignal: disconnection.signal, size: 10 };
    const dropped = queue.run(() => Promise.reject(new Error('the task has begun')), options);
    const next = queue.run(() => Promise.resolve('next'), { client: 'c' });
    disconnection.abort();
    await expect(dropped).rejects.toMatchObject({ status: 400 });
    await expect(next).resolves.toBe('next');
    await finishAll();
  });

  it('rejects a task that has waited too long instead of beginning it', async () => {
    const { started, results, finishAll } = startTasks(new FairQueue({ capacity: 1, maxWaitMs: 5 }), 'ab');
    await expect(results[1]).rejects.toMatchObject({ status: 503 });
    await finishAll();
    expect(started).toEqual(['a0']);
  });
});
