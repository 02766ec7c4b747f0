import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rupiah } from '../../common/rupiah.js';
import { gatewayTime } from '../midtrans.messages.js';
import { ACTIONS, isAllowed } from './simulator-actions.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';

const handlebars = Handlebars.create();
handlebars.registerHelper({
  rupiah: (amount: number) => rupiah(amount),
  time: (time: string) => `${gatewayTime(new Date(time))} WIB`,
});
const template = handlebars.compile(source('page.hbs'), { strict: true });
const style = source('page-style.hbs');

/** Lets in the page's own style and its forms; in place of helmet's, which would send forms to https. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface PageOptions {
  /** Path of the page. */
  readonly path: string;
  /** Origin of the shop that led here. */
  readonly shop: string | null;
  /** An action that the payment's state does not allow. */
  readonly refused: string | null;
}

/** A payment as a person sees it. */
export function pageOf(transaction: SimulatorTransaction, options: PageOptions): string {
  const { items, customer, notifications } = transaction;
  const view = viewOf(transaction);
  const actions = view.actions.map((name) => ({ name, to: null, ...ACTIONS.get(name) }));
  const newestFirst = [...notifications].reverse();
  return template({ ...view, ...options, items, customer, actions, notifications: newestFirst, style });
}

/** A payment as a script sees it; the notifications oldest first. */
export function viewOf(transaction: SimulatorTransaction) {
  return {
    order_id: transaction.orderId,
    gross_amount: Number(transaction.grossAmount),
    transaction_id: transaction.transactionId,
    transaction_status: transaction.transactionStatus,
    payment_type: transaction.paymentType,
    fraud_status: transaction.fraudStatus,
    expires_at: transaction.expiresAt.toISOString(),
    actions: [...ACTIONS].filter(([, action]) => isAllowed(action, transaction)).map(([name]) => name),
    notifications: transaction.notifications.map(({ kind, status, sentAt, answer }) => ({
      kind,
      transaction_status: status,
      sent_at: sentAt,
      answer,
    })),
  };
}

function source(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
