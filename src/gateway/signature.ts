import { createHash, timingSafeEqual } from 'node:crypto';

/** Fields that a signature covers, exactly as they were sent. */
type SignedFields = Readonly<Record<'order_id' | 'status_code' | 'gross_amount', string>>;

/** Computes `signature_key` of a notification in lower-case hexadecimal (contract 5, rule 5). */
export function computeSignature(fields: SignedFields, serverKey: string): string {
  const text = fields.order_id + fields.status_code + fields.gross_amount + serverKey;
  return createHash('sha512').update(text).digest('hex');
}

/** Returns true for the right signature. The comparison takes constant time. */
export function isValidSignature(fields: SignedFields, signature: string, serverKey: string): boolean {
  const expected = Buffer.from(computeSignature(fields, serverKey));
  const actual = Buffer.from(signature.toLowerCase());
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
