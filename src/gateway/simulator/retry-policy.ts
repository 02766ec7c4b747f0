const MINUTE = 60 * 1000;
/** Longest gaps before the first to the fifth retry. */
const GAPS_MS = [2, 10, 30, 90, 210].map((minutes) => minutes * MINUTE);
/** The gateway shifts every retry by a random time; its documentation knows 33 seconds where 2 minutes is the longest. */
const SHORTEST_SHARE = 33 / 120;

/**
 * When the gateway repeats a notification.
 *
 * @param attempts how many there were
 * @param status the last answer's; null when there was none
 * @param random from 0 up to 1
 * @returns milliseconds from the last attempt; null when there is no further one
 * @see https://docs.midtrans.com/docs/https-notification-webhooks, "Best Practices to Handle Notification"
 */
export function nextAttemptDelay(attempts: number, status: number | null, random: number): number | null {
  const gap = GAPS_MS[attempts - 1];
  if (gap === undefined || attempts > retriesAfter(status)) return null;
  return Math.round(gap * (SHORTEST_SHARE + (1 - SHORTEST_SHARE) * random));
}

function retriesAfter(status: number | null): number {
  if (status === null) return GAPS_MS.length;
  if (status >= 200 && status < 300) return 0;
  switch (status) {
    case 301:
    case 302:
    case 303:
      return 0;
    case 500:
      return 1;
    case 400:
    case 404:
      return 2;
    case 503:
      return 4;
    default:
      return GAPS_MS.length;
  }
}
