import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corsOriginMatcher } from '../../common/origin-check.js';
import { Env } from '../../config/env.js';
import { type Action, type ActionGroup, type ActionName, ACTIONS, allowedActions } from './actions.js';
import { gatewayTime } from './notification-body.js';
import type { DeliveryAttempt, SimulatorNotification } from './simulator-notification.entity.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';
import { NOTIFICATION_KINDS, stateOf } from './simulator-texts.js';
import { mayStartPayment } from './transitions.js';

/** A payment as a script sees it. */
export interface PaymentView {
  readonly order_id: string;
  readonly gross_amount: number;
  readonly transaction_id: string | null;
  /** Null until a method is chosen. */
  readonly transaction_status: string | null;
  readonly payment_type: string | null;
  readonly fraud_status: string | null;
  readonly expires_at: string;
  /** What may be posted now. */
  readonly actions: readonly ActionName[];
  /** Oldest first. */
  readonly notifications: readonly {
    readonly kind: SimulatorNotification['kind'];
    readonly transaction_status: string;
    readonly sent_at: string;
    readonly attempts: readonly DeliveryAttempt[];
    readonly next_attempt_at: string | null;
  }[];
}

const GROUPS: readonly { readonly group: ActionGroup; readonly title: string }[] = [
  { group: 'pay', title: 'The customer pays' },
  { group: 'payment', title: 'What becomes of the payment' },
  { group: 'notifications', title: 'Notifications that go astray' },
];

const rupiah = new Intl.NumberFormat('id-ID', {
  style: 'currency',
  currency: 'IDR',
  maximumFractionDigits: 0,
});

/** Renders a payment, for people and for scripts. */
@Injectable()
export class SimulatorPage {
  readonly #style = source('page-style.hbs');
  readonly #template = Handlebars.compile(source('page.hbs'), { strict: true });
  readonly #path: string;
  readonly #isShop: (origin: string) => boolean;

  /** Lets in the page's own style and its forms; in place of helmet's, which would send the forms of a LAN address to https. */
  readonly contentSecurityPolicy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(this.#style).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  constructor(env: Env) {
    this.#isShop = corsOriginMatcher(env);
    this.#path = new URL(`${env.publicUrl}/api/simulator/`).pathname;
  }

  /** Where the page is, without the origin: a phone may reach it under another one than PUBLIC_URL. */
  path(token: string): string {
    return this.#path + token;
  }

  view(transaction: SimulatorTransaction, notifications: readonly SimulatorNotification[]): PaymentView {
    return {
      order_id: transaction.orderId,
      gross_amount: Number(transaction.grossAmount),
      transaction_id: transaction.transactionId,
      transaction_status: transaction.transactionStatus,
      payment_type: transaction.paymentType,
      fraud_status: transaction.fraudStatus,
      expires_at: transaction.expiresAt.toISOString(),
      actions: allowedActions(transaction, new Date()),
      notifications: notifications.map((notification) => ({
        kind: notification.kind,
        transaction_status: notification.transactionStatus,
        sent_at: notification.createdAt.toISOString(),
        attempts: notification.attempts,
        next_attempt_at: notification.nextAttemptAt?.toISOString() ?? null,
      })),
    };
  }

  /** Keeps the shop's origin through the page's forms; empty for what is not the address of a shop. */
  shopQuery(from: unknown): string {
    const shop = this.#shopOf(from);
    return shop === null ? '' : `?shop=${encodeURIComponent(shop)}`;
  }

  /** The origin of an address, if pages of that origin may call the service; null for any other text. */
  #shopOf(address: unknown): string | null {
    if (typeof address !== 'string' || !URL.canParse(address)) return null;
    const { origin } = new URL(address);
    return this.#isShop(origin) ? origin : null;
  }

  /**
   * @param from the address of the page that led here
   * @param refused an action that the payment's state does not allow, to be told of
   */
  html(
    transaction: SimulatorTransaction,
    notifications: readonly SimulatorNotification[],
    from: unknown,
    refused?: string,
  ): string {
    const { orderId, token, customer, items, expiresAt } = transaction;
    const now = new Date();
    const allowed = allowedActions(transaction, now);
    const canPay = mayStartPayment(transaction, now);
    return this.#template({
      style: this.#style,
      path: this.path(token),
      shop: this.#shopOf(from),
      query: this.shopQuery(from),
      refused: refused ?? null,
      isWaiting: notifications.some(({ attempts }) => attempts.length === 0),
      state: stateOf(transaction, now),
      orderId,
      customer,
      total: rupiah.format(Number(transaction.grossAmount)),
      items: items.map(({ name, price, quantity }) => ({
        name,
        quantity,
        price: rupiah.format(price),
        sum: rupiah.format(price * quantity),
      })),
      payment: paymentFacts(transaction),
      expiresAt: timeOf(expiresAt),
      groups: GROUPS.map(({ group, title }) => ({
        title,
        actions: allowed
          .map((name): Action & { name: string } => ({ name, ...ACTIONS[name] }))
          .filter((action) => groupOf(action, canPay) === group),
      })).filter(({ actions }) => actions.length > 0),
      notifications: notifications.map(notificationFacts).reverse(),
    });
  }
}

/** What begins a payment stands with the ways to pay as long as one may begin. */
function groupOf(action: Action, canPay: boolean): ActionGroup {
  return canPay && 'begins' in action ? 'pay' : action.group;
}

function paymentFacts({ transactionId, paymentType, fraudStatus, paymentDetails }: SimulatorTransaction) {
  if (transactionId === null) return [];
  return [
    { name: 'Method', value: paymentType },
    { name: 'Fraud check', value: fraudStatus ?? 'none for this method' },
    { name: 'Transaction', value: transactionId },
    ...detailFacts(paymentDetails ?? {}),
  ];
}

/** What the customer would be told to pay with. */
function detailFacts(details: Readonly<Record<string, unknown>>) {
  const { va_numbers: accounts, payment_code: code, masked_card: card } = details;
  if (Array.isArray(accounts)) {
    const [account] = accounts as { bank: string; va_number: string }[];
    return [{ name: 'Virtual account', value: `${account?.bank.toUpperCase()} ${account?.va_number}` }];
  }
  if (typeof code === 'string') return [{ name: 'Payment code', value: code }];
  return typeof card === 'string' ? [{ name: 'Card', value: card }] : [];
}

function notificationFacts(notification: SimulatorNotification) {
  const { kind, transactionStatus, attempts, nextAttemptAt, body } = notification;
  return {
    status: transactionStatus,
    kind: NOTIFICATION_KINDS[kind],
    body: JSON.stringify(JSON.parse(body), null, 2),
    isUntried: attempts.length === 0,
    attempts: attempts.map(({ at, status, problem }) => ({
      at: timeOf(new Date(at)),
      answer: status === null ? problem : `HTTP ${status}`,
      isGood: status !== null && status >= 200 && status < 300,
    })),
    nextAttemptAt: attempts.length > 0 && nextAttemptAt !== null ? timeOf(nextAttemptAt) : null,
  };
}

function timeOf(time: Date) {
  return { iso: time.toISOString(), text: `${gatewayTime(time)} WIB` };
}

function source(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
