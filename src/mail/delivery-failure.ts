import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import { PermanentJobError } from '../jobs/permanent-job-error.js';

const LONGEST_REASON = 200;
/** An e-mail address, of which its first letter and domain are enough to find the account. */
const ADDRESS = /([^\s<>@"':;,])[^\s<>@"':;,]*@([\w.-]+)/g;
/** Replies that say that the recipient does not exist (RFC 5321 section 4.2.3), where no enhanced code says more. */
const NO_SUCH_MAILBOX = new Set([550, 551, 553]);
/** Enhanced codes that say so (RFC 3463): bad address, mailbox moved or disabled. Not 5.7, which is about us. */
const IS_OF_RECIPIENT = /^5\.(1\.(1|2|3|6|10)|2\.1)$/;

/**
 * What a job keeps of a mail that did not leave: one short line, addresses shortened.
 *
 * @returns PermanentJobError when the recipient does not exist. Any other refusal, of our login, our address or our
 *   text, is put right by somebody, and then every mail still goes out by itself.
 */
export function deliveryFailure(error: unknown): Error {
  const reason = (error instanceof Error ? error.message : String(error))
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .replaceAll(ADDRESS, '$1***@$2')
    .slice(0, LONGEST_REASON);
  return isRecipientUnknown(error) ? new PermanentJobError(reason) : new Error(reason);
}

function isRecipientUnknown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { command, responseCode, response } = error as SMTPConnection.SMTPError;
  if (command !== 'RCPT TO' || typeof responseCode !== 'number') return false;
  const [, enhancedCode] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
  return enhancedCode === undefined
    ? NO_SUCH_MAILBOX.has(responseCode)
    : responseCode >= 500 && IS_OF_RECIPIENT.test(enhancedCode);
}
