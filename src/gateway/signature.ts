import { createHash, timingSafeEqual } from 'node:crypto';

/** The parts of a notification that its signature covers, exactly as they were sent. */
export interface SignedFields {
  readonly order_id: string;
  readonly status_code: string;
  readonly gross_amount: string;
}

/** `signature_key` of a notification: SHA-512, in lower-case hexadecimal (interface.md section 5, rule 5). */
export function signatureOf(
  { order_id, status_code, gross_amount }: SignedFields,
  serverKey: string,
): string {
  return createHash('sha512').update(`${order_id}${status_code}${gross_amount}${serverKey}`).digest('hex');
}

/** Whether the gateway, which alone has the server key besides us, signed these fields; in constant time. */
export function isSignedBy(fields: SignedFields, signature: string, serverKey: string): boolean {
  const expected = Buffer.from(signatureOf(fields, serverKey));
  const given = Buffer.from(signature.toLowerCase());
  return given.length === expected.length && timingSafeEqual(given, expected);
}
