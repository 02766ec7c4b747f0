import { BakeryFailure } from 'bakery-client';
import { toSentence } from '../format';
import { findText, t } from '../i18n';

/** Patterns of messages of the service, with the text that replaces each message. */
const PATTERNS: readonly (readonly [RegExp, (value: string) => string])[] = [
  [/access token/, () => t('account.sessionEnded')],
  [/^price is now \d+$/, () => t('error.priceChanged')],
  [/^the order cannot become \w+$/, () => t('error.step')],
  [/^cut_off should be a time/, () => t('hours.unclear')],
  [/^hours\.(\w+) should be/, (day) => t('error.hours', { day: findText(`day.${day}`) ?? day })],
  [/^(.*) is not a png or jpg file$/, (name) => t('error.image', { name })],
  [/ should be a date/, () => t('error.date')],
  [/contains a character that is not allowed$|has invalid characters$/, () => t('error.character')],
  [/ can have \d+ characters at max$/, () => t('error.tooLong')],
];

export function hasCode(error: unknown, code: number): error is BakeryFailure {
  return error instanceof BakeryFailure && error.code === code;
}

/** Returns the text that people see instead of a message of the service. */
function toShownText(message: string): string {
  const text = findText(`api:${message}`);
  if (text !== undefined) return text;
  for (const [pattern, toText] of PATTERNS) {
    const match = pattern.exec(message);
    if (match) return toText(match[1] ?? '');
  }
  return t('error.other', { message: toSentence(message) });
}

/** Returns the messages of a failed call for these fields, by field name. */
export function getFieldMessages(error: unknown, fields: readonly string[]): Record<string, string> {
  const details = error instanceof BakeryFailure ? Object.entries(error.details) : [];
  const shown = details.filter(([name]) => fields.includes(name));
  return Object.fromEntries(shown.map(([name, message]) => [name, toShownText(message)]));
}

/**
 * Returns the text that explains a failed call to a person, without the messages that are shown at these fields. The text is
 * empty if no other message is left.
 */
export function explain(error: unknown, shownAtFields: readonly string[] = []) {
  if (!(error instanceof BakeryFailure)) return t('error.unreachable');
  const details = Object.entries(error.details);
  if (details.length === 0) return toShownText(error.message);
  const others = details
    .filter(([name]) => !shownAtFields.includes(name))
    .map(([, message]) => toShownText(message));
  return [...new Set(others)].join(' ');
}
