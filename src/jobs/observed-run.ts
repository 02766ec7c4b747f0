import { jobDuration, mails } from '../common/metrics.js';
import { tracing } from '../common/tracing.js';

/** What a job's payload carries besides its own: the span that enqueued it, while tracing is on. */
interface Traced {
  readonly traceparent?: unknown;
}

/** A payload with the span that enqueues it, if there is one. */
export function withTrace(payload: object): object {
  const traceparent = tracing().traceparent();
  return traceparent === undefined ? payload : { ...payload, traceparent };
}

/**
 * Runs one try of a job, in a span that is linked to the one that enqueued it, and reports what became of it.
 * @param bury told of a failure; whether it was the last one
 */
export async function observedRun(
  { task, lane, payload }: { readonly task: string; readonly lane: string; readonly payload: unknown },
  work: () => Promise<void>,
  bury: (error: unknown) => Promise<boolean>,
): Promise<void> {
  const end = jobDuration.startTimer({ task });
  const cause = (payload as Traced | null)?.traceparent;
  try {
    await tracing().job(task, typeof cause === 'string' ? cause : undefined, work);
    end({ outcome: 'done' });
  } catch (error) {
    const isDead = await bury(error);
    end({ outcome: isDead ? 'dead' : 'failed' });
    if (lane === 'mail') mails.inc({ outcome: isDead ? 'dead' : 'retried' });
    throw error;
  }
}
