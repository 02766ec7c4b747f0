import { isISO8601 } from 'class-validator';

/** The gateway writes Jakarta time without saying so. */
const GATEWAY_FORM = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;
const GATEWAY_OFFSET = '+07:00';

/**
 * Reads a transaction_time: ISO 8601, or the gateway's own `YYYY-MM-DD HH:MM:SS` in GMT+7.
 * @returns null when it is no time
 */
export function parseTransactionTime(text: string): Date | null {
  const iso = text.replace(GATEWAY_FORM, `$1T$2${GATEWAY_OFFSET}`);
  if (text.length > 64 || !isISO8601(iso, { strict: true, strictSeparator: true })) return null;
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? null : time;
}
