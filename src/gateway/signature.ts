import { createHash, timingSafeEqual } from 'node:crypto';

/** The parts of a notification that its signature covers, exactly as they were sent. */
export interface SignedFields {
  readonly order_id: string;
  readonly status_code: string;
  readonly gross_amount: string;
}

/** `signature_key` of a notification: SHA-512, in lower-case hexadecimal (contract 5, rule 5). */
export function signatureOf(
  { order_id, status_code, gross_amount }: SignedFields,
  serverKey: string,
): string {
  return createHash('sha512').update(`${order_id}${status_code}${gross_amount}${serverKey}`).digest('hex');
}

/** Whether these fields were signed with the server key, which only the gateway and we have; in constant time. */
export function isSignedBy(fields: SignedFields, signature: string, serverKey: string): boolean {
  const expected = Buffer.from(signatureOf(fields, serverKey));
  const given = Buffer.from(signature.toLowerCase());
  return given.length === expected.length && timingSafeEqual(given, expected);
}
