import { BakeryFailure } from 'bakery-client';
import { sentence } from '../format';

/** Messages of the service that read better in the words of the shop. */
const SHOP_MESSAGES: Record<string, string> = {
  'fullname is required': 'your name is required',
  'password confirmation is required': 'please repeat the password',
  'password confirmation does not match': 'the two passwords are not the same',
  'invalid or expired otp': 'invalid or expired code',
  'otp is required': 'the code is required',
  'product is no longer available':
    'something in your cart is no longer baked. Please look at the new total and order again',
};

/** Whether a call failed with this status. */
export function hasCode(error: unknown, code: number): error is BakeryFailure {
  return error instanceof BakeryFailure && error.code === code;
}

/** A message of the service as a sentence of the shop. */
export function shopMessage(message: string) {
  return sentence(SHOP_MESSAGES[message] ?? message);
}

/** What to tell a person about a failed call. */
export function explain(error: unknown) {
  if (!(error instanceof BakeryFailure))
    return 'We cannot reach the bakery. Check your connection and try again.';
  const details = new Set(Object.values(error.details));
  return [...(details.size > 0 ? details : [error.message])].map(shopMessage).join(' ');
}
