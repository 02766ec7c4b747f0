import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import { errorMessage } from '../common/errors/error-info.js';
import { PermanentJobError } from '../jobs/job-handler.js';

const MAX_REASON_LENGTH = 200;
/** SMTP reply codes for an unknown recipient (RFC 5321 section 4.2.3), used if the reply has no enhanced status code. */
const UNKNOWN_RECIPIENT_REPLIES = new Set([550, 551, 553]);
/** Matches replies of Exim, Postfix and qmail that reject this service as a sender, with the codes of an unknown recipient. */
const RELAY_DENIED = /\brelay|\brcpthosts\b/i;
/** Enhanced status codes for a bad address, a moved or disabled mailbox (RFC 3463), or a domain without mail (RFC 7505). */
const UNKNOWN_RECIPIENT_STATUS = /^5\.(1\.(1|2|3|6|10)|2\.1)$/;

/**
 * Matches an email address up to its @. The excluded characters delimit addresses in log lines and SMTP replies. A match begins
 * only after such a character: otherwise, a long text without an @ would take quadratic time.
 */
const EMAIL = /(?<![^\s<>@":;,])([^\s<>@":;,])[^\s<>@":;,]*@/gu;

/**
 * Converts the error of a delivery to an error for the job, with a message of one short line. Only an unknown recipient is
 * permanent: an operator can fix other causes while the job is retried.
 */
export function toDeliveryError(error: unknown): Error {
  const reason = toMaskedLine(errorMessage(error), MAX_REASON_LENGTH);
  return isRecipientUnknown(error) ? new PermanentJobError(reason) : new Error(reason);
}

function isRecipientUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { command, responseCode, response } = error as SMTPConnection.SMTPError;
  if (command !== 'RCPT TO' || typeof responseCode !== 'number') return false;
  const [, enhancedCode] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
  return enhancedCode === undefined
    ? UNKNOWN_RECIPIENT_REPLIES.has(responseCode) && !RELAY_DENIED.test(String(response))
    : responseCode >= 500 && UNKNOWN_RECIPIENT_STATUS.test(enhancedCode);
}

/** Puts a text on one line. Replaces each email address by its first letter and its domain: `a***@example.com`. */
export function toMaskedLine(text: string, maxLength: number): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(EMAIL, '$1***@')
    .slice(0, maxLength)
    .replaceAll(/\p{Cs}/gu, ''); // halves of cut characters
}
