import { Buffer } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns true if the gateway signed a notification. */
export function isSigned({ order_id, status_code, gross_amount, signature_key }, serverKey) {
  const expected = createHash('sha512')
    .update(`${order_id}${status_code}${gross_amount}${serverKey}`)
    .digest('hex');
  return timingSafeEqual(Buffer.from(expected), Buffer.from(signature_key));
}
