import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corsOriginMatcher } from '../../common/origin-check.js';
import { Env } from '../../config/env.js';
import { ACTIONS, isAllowed, mayBegin } from './simulator-actions.js';
import { gatewayTime } from './simulator-messages.js';
import type { SentNotification, SimulatorTransaction } from './simulator-transaction.entity.js';

/** How the page shows where a payment stands: tone and title. */
const STATES = {
  fresh: ['fresh', 'Not paid yet'],
  pending: ['pending', 'Waiting for the money'],
  authorize: ['pending', 'Reserved'],
  capture: ['paid', 'Paid'],
  settlement: ['paid', 'Paid'],
  deny: ['ended', 'Denied'],
  failure: ['ended', 'Failed'],
  cancel: ['ended', 'Cancelled'],
  expire: ['ended', 'Expired'],
  refund: ['ended', 'Refunded'],
  partial_refund: ['ended', 'Partly refunded'],
} as const;
const GROUPS = [...new Set([...ACTIONS.values()].map(({ group }) => group))];
const KINDS: Readonly<Record<SentNotification['kind'], string>> = {
  status: '',
  again: 'sent again',
  late: 'sent late',
  'bad-signature': 'with a bad signature',
};
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

  /** Lets in the page's own style and its forms; in place of helmet's, which would send forms to https. */
  readonly contentSecurityPolicy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(this.#style).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  constructor(env: Env) {
    this.#path = new URL(`${env.publicUrl}/api/simulator/`).pathname;
    this.#isShop = corsOriginMatcher(env);
  }

  /**
   * Where the page is, without the origin: a phone may reach it under another one than PUBLIC_URL.
   * @param from the address of the page that led here, whose origin is kept if it is a shop's
   */
  address(token: string, from: unknown, action = ''): string {
    const shop = this.#shopOf(from);
    return this.#path + token + action + (shop === null ? '' : `?shop=${encodeURIComponent(shop)}`);
  }

  /** A payment as a script sees it; the notifications oldest first. */
  view(transaction: SimulatorTransaction) {
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

  /** @param refused an action that the payment's state does not allow */
  html(transaction: SimulatorTransaction, from: unknown, refused?: string): string {
    const { orderId, token, customer, items, expiresAt, notifications } = transaction;
    const { transactionId, transactionStatus, paymentType, fraudStatus } = transaction;
    const allowed = [...ACTIONS].filter(([, action]) => isAllowed(action, transaction));
    const isOver = transactionStatus === null && !mayBegin(transaction);
    const [tone, title] = STATES[isOver ? 'expire' : (transactionStatus ?? 'fresh')];
    return this.#template({
      style: this.#style,
      address: this.address(token, from),
      shop: this.#shopOf(from),
      refused: refused ?? null,
      isWaiting: notifications.some(({ answer }) => answer === null),
      state: { tone, title, status: transactionStatus },
      orderId,
      customer,
      total: rupiah.format(Number(transaction.grossAmount)),
      items: items.map(({ name, price, quantity }) => ({
        name,
        quantity,
        price: rupiah.format(price),
        sum: rupiah.format(price * quantity),
      })),
      transactionId,
      paymentType,
      fraudStatus,
      expiresAt: timeOf(expiresAt),
      groups: GROUPS.map((group) => ({
        title: group,
        actions: allowed
          .filter(([, action]) => action.group === group)
          .map(([name, { label, hint }]) => ({
            label,
            hint,
            address: this.address(token, from, `/${name}`),
          })),
      })).filter(({ actions }) => actions.length > 0),
      notifications: notifications
        .map(({ kind, status, body, sentAt, answer }) => ({
          status,
          kind: KINDS[kind],
          body: JSON.stringify(JSON.parse(body), null, 2),
          sentAt: timeOf(new Date(sentAt)),
          answer: answer ?? 'On its way',
          tone: answer === null ? '' : answer.startsWith('HTTP 2') ? 'good' : 'bad',
        }))
        .reverse(),
    });
  }

  /** The origin of an address, if pages of that origin may call the service; null for any other text. */
  #shopOf(address: unknown): string | null {
    if (typeof address !== 'string' || !URL.canParse(address)) return null;
    const { origin } = new URL(address);
    return this.#isShop(origin) ? origin : null;
  }
}

function timeOf(time: Date) {
  return { iso: time.toISOString(), text: `${gatewayTime(time)} WIB` };
}

function source(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
