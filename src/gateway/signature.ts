import { createHash, timingSafeEqual } from 'node:crypto';

/** Fields that a signature covers, exactly as they were sent. */
export interface SignedFields {
  readonly order_id: string;
  readonly status_code: string;
  readonly gross_amount: string;
}

/** Computes `signature_key` of a notification: SHA-512 in lower-case hexadecimal (contract 5, rule 5). */
export function computeSignature(
  { order_id, status_code, gross_amount }: SignedFields,
  serverKey: string,
): string {
  return createHash('sha512').update(`${order_id}${status_code}${gross_amount}${serverKey}`).digest('hex');
}

/** Compares a signature in constant time. */
export function isSignedBy(fields: SignedFields, signature: string, serverKey: string): boolean {
  const expected = Buffer.from(computeSignature(fields, serverKey));
  const actual = Buffer.from(signature.toLowerCase());
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
