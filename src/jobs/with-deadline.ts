/**
 * Waits for a job's work, though not for ever.
 *
 * @param stopped aborted when the queue stops and has waited for its jobs long enough
 * @throws what the work throws; Error when it took longer than the deadline or the queue stopped
 */
export async function withinDeadline(
  work: Promise<void>,
  task: string,
  deadlineMs: number,
  stopped: AbortSignal | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const cut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${task} took longer than ${deadlineMs} ms`));
    }, deadlineMs);
    giveUp = () => {
      reject(new Error(`${task} was still running when the service stopped`));
    };
    stopped?.addEventListener('abort', giveUp);
  });
  try {
    await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
    if (giveUp !== undefined) stopped?.removeEventListener('abort', giveUp);
  }
}
