import { randomInt } from 'node:crypto';

/** A way to pay, with what the gateway's notifications hold because of it. */
export interface PaymentMethod {
  readonly paymentType: string;
  /** Convenience stores are not screened for fraud; their notifications lack the field. */
  readonly hasFraudStatus: boolean;
  /** In the gateway's names; made once for a payment. */
  readonly details: () => Readonly<Record<string, unknown>>;
}

/** @see https://docs.midtrans.com/docs/https-notification-webhooks for samples of each */
export const PAYMENT_METHODS = {
  card: {
    paymentType: 'credit_card',
    hasFraudStatus: true,
    details: () => ({
      masked_card: '48111111-1114',
      bank: 'bni',
      card_type: 'credit',
      eci: '05',
      channel_response_code: '00',
      channel_response_message: 'Approved',
      approval_code: digits(13),
    }),
  },
  gopay: {
    paymentType: 'gopay',
    hasFraudStatus: true,
    details: () => ({}),
  },
  qris: {
    paymentType: 'qris',
    hasFraudStatus: true,
    details: () => ({ transaction_type: 'on-us', issuer: 'gopay', acquirer: 'gopay' }),
  },
  bankTransfer: {
    paymentType: 'bank_transfer',
    hasFraudStatus: true,
    details: () => ({ va_numbers: [{ va_number: digits(15), bank: 'bca' }], payment_amounts: [] }),
  },
  convenienceStore: {
    paymentType: 'cstore',
    hasFraudStatus: false,
    details: () => ({ store: 'indomaret', payment_code: digits(16) }),
  },
} as const satisfies Record<string, PaymentMethod>;

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('');
}
