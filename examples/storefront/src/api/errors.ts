import { BakeryFailure } from 'bakery-client';
import { toSentence } from '../format';
import { findText, t } from '../i18n';

/** Error that the storefront itself detects. */
export class LocalizedError extends Error {
  constructor(
    /** Returns the message in the current language, which may change while the message is shown. */
    readonly toText: () => string,
    /** Name of the field that shows the message. Without a field, the form shows the message above its button. */
    readonly field?: string,
  ) {
    super();
  }
}

/** Texts for messages that contain a value, or that share a text. `value` is the first group of the pattern, if it has one. */
const PATTERNS: readonly { pattern: RegExp; toText: (value: string) => string }[] = [
  {
    pattern: /^(access token missing or expired|invalid or malformed access token)$/,
    toText: () => t('error.session'),
  },
  { pattern: /^price is now \d+$/, toText: () => t('error.priceChanged') },
  { pattern: /^the order cannot become \w+$/, toText: () => t('error.step') },
  { pattern: /^cut_off should be a time/, toText: () => t('hours.unclear') },
  {
    pattern: /^hours\.(\w+) should be/,
    toText: (day) => t('error.hours', { day: findText(`day.${day}`) ?? day }),
  },
  { pattern: /^(.*) is not a png or jpg file$/, toText: (name) => t('error.image', { name }) },
  { pattern: /^closed_ranges should be/, toText: () => t('error.ranges') },
  { pattern: /^from and to can include (\d+)/, toText: (days) => t('error.rangeTooLong', { days }) },
  { pattern: /^the total should be at least/, toText: () => t('error.totalTooSmall') },
  { pattern: / should be a date/, toText: () => t('error.date') },
  {
    pattern: /contains a character that is not allowed$|has invalid characters$/,
    toText: () => t('error.character'),
  },
  { pattern: / can have (\d+) characters at max$/, toText: (max) => t('error.tooLong', { max }) },
  // A response of a proxy, without a message.
  {
    pattern: /^the response has status 5\d\d$/,
    toText: () => t('api:service is temporarily unavailable, please try again later'),
  },
];

export function hasCode(error: unknown, code: number): error is BakeryFailure {
  return error instanceof BakeryFailure && error.code === code;
}

/** Returns true if a failed request may have succeeded: it has no response, or one with a status of 500 or above, perhaps of a proxy. */
export function isResponseLost(error: unknown): boolean {
  return !(error instanceof BakeryFailure) || error.code >= 500;
}

/** Returns the data of a call, or null if the call fails with 404. */
export function orNullIf404<Data>(call: Promise<Data>) {
  return call.catch((error: unknown) => {
    if (hasCode(error, 404)) return null;
    throw error;
  });
}

/** Returns the texts that explain an error at these fields, by field name. */
export function getFieldMessages(error: unknown, fields: readonly string[]): Record<string, string> {
  const shown = Object.entries(getAllFieldMessages(error)).filter(([name]) => fields.includes(name));
  return Object.fromEntries(shown);
}

/**
 * Returns the text that explains an error to a person, without the messages that are shown at these fields. The text is
 * empty if no other message is left.
 */
export function explain(error: unknown, shownAtFields: readonly string[] = []): string {
  const messages = Object.entries(getAllFieldMessages(error));
  if (messages.length === 0) return toShownText(error);
  const others = messages.filter(([name]) => !shownAtFields.includes(name));
  const sentences = others.flatMap(([, message]) => message.split(/(?<=\.) /));
  // Several messages may end with the same sentence.
  return sentences.filter((sentence, index) => sentences.lastIndexOf(sentence) === index).join(' ');
}

function getAllFieldMessages(error: unknown): Record<string, string> {
  if (error instanceof LocalizedError && error.field !== undefined) return { [error.field]: error.toText() };
  const details = error instanceof BakeryFailure ? Object.entries(error.details) : [];
  return Object.fromEntries(details.map(([name, message]) => [name, translate(message)]));
}

function toShownText(error: unknown): string {
  if (error instanceof LocalizedError) return error.toText();
  return error instanceof BakeryFailure ? translate(error.message) : t('error.unreachable');
}

/** Returns the text that people see instead of a message of the service. */
function translate(message: string): string {
  const text = findText(`api:${message}`);
  if (text !== undefined) return text;
  for (const { pattern, toText } of PATTERNS) {
    const match = pattern.exec(message);
    if (match) return toText(match[1] ?? '');
  }
  return t('error.other', { message: toSentence(message) });
}
