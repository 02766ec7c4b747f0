import { BakeryFailure } from 'bakery-client';
import { toSentence } from '../format';

/** Texts that replace messages of the service. */
const SHOP_MESSAGES: Record<string, string> = {
  'fullname is required': 'your name is required',
  'password confirmation is required': 'please repeat the password',
  'password confirmation does not match': 'the two passwords are not the same',
  'invalid or expired otp': 'invalid or expired code',
  'otp is required': 'the code is required',
  'the gateway cannot refund this payment':
    'the payment partner cannot refund this payment. Return the money yourself, then record it here',
  'product is no longer available':
    'a product in your cart is sold out. Please check the new total and order again',
};

const NEW_PRICE = /^price is now \d+$/;
/** First word of a message if it is a field name that contains an underscore, such as `lead_minutes`. */
const FIELD_NAME = /^[a-z]+(_[a-z]+)+(?= )/;

export function hasCode(error: unknown, code: number): error is BakeryFailure {
  return error instanceof BakeryFailure && error.code === code;
}

/** Converts a message of the service into a sentence for people. */
function toShopMessage(message: string) {
  if (NEW_PRICE.test(message)) return 'A price has changed. Please check the new total and order again.';
  return toSentence(SHOP_MESSAGES[message] ?? message.replace(FIELD_NAME, replaceUnderscores));
}

function replaceUnderscores(name: string) {
  return name.replaceAll('_', ' ');
}

/** Returns the messages of a failed call for these fields, by field name. */
export function getFieldMessages(error: unknown, fields: readonly string[]): Record<string, string> {
  const details = error instanceof BakeryFailure ? Object.entries(error.details) : [];
  const shown = details.filter(([name]) => fields.includes(name));
  return Object.fromEntries(shown.map(([name, message]) => [name, toShopMessage(message)]));
}

/**
 * Returns the text that explains a failed call to a person. If the failure consists of messages for fields, and `except`
 * contains all these fields, the text is empty.
 *
 * @param except names of the fields whose messages are shown at the fields and are not needed in the text
 */
export function explain(error: unknown, { except = [] }: { except?: readonly string[] } = {}) {
  if (!(error instanceof BakeryFailure))
    return 'We cannot reach the bakery. Check your connection and try again.';
  const details = Object.entries(error.details);
  if (details.length === 0) return toShopMessage(error.message);
  const others = details
    .filter(([name]) => !except.includes(name))
    .map(([, message]) => toShopMessage(message));
  return [...new Set(others)].join(' ');
}
