import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { formatDateTime } from '../common/calendar.js';
import { formatRupiah } from '../common/rupiah.js';
import { JobsService } from '../jobs/jobs.service.js';
import { hasVerifiedAddress, MailService } from '../mail/mail.service.js';
import type { MailTexts } from '../mail/texts.js';
import type { Order } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';

type OrderMail = keyof MailTexts['orders'];

/** Time in which a step to `ready` can be taken back without a mail. */
const READY_DELAY_MS = 60_000;

const SEND_ORDER_MAIL = 'send-order-mail';
/** A task of its own, because a process of version 1.2 cannot send the mail `order-refunded`. */
const SEND_REFUND_MAIL = 'send-refund-mail';

/** Contains no address: the mail goes to the customer's address at the time of sending. */
interface OrderMailPayload {
  readonly orderId: string;
  readonly mail: OrderMail;
  /** Amount of a refund. */
  readonly amount?: number | undefined;
}

@Injectable()
export class OrderMailsService implements OnModuleInit {
  constructor(
    private readonly orders: OrdersRepository,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
  ) {}

  onModuleInit(): void {
    for (const task of [SEND_ORDER_MAIL, SEND_REFUND_MAIL])
      this.jobs.handle<OrderMailPayload>(task, (payload) => this.#send(payload), 'mail');
  }

  /**
   * Enqueues a mail about an order. `order-ready` leaves a minute later.
   * @param refund for the mail `order-refunded`: the amount that was returned now, and the sum of all refunds of the order
   */
  async enqueue(
    tx: EntityManager,
    orderId: string,
    mail: OrderMail,
    refund?: Readonly<{ amount: number; sum: number }>,
  ): Promise<void> {
    const payload: OrderMailPayload = { orderId, mail, amount: refund?.amount };
    const subject = [orderId, mail, ...(refund ? [refund.sum] : [])].join(':');
    // Only `order-ready` is delayed. Other jobs get their time from PostgreSQL: a fast clock of the service would delay them.
    const runAt = mail === 'order-ready' ? new Date(Date.now() + READY_DELAY_MS) : undefined;
    const task = mail === 'order-refunded' ? SEND_REFUND_MAIL : SEND_ORDER_MAIL;
    await this.jobs.enqueue(tx, task, payload, { subject, runAt });
  }

  async #send({ orderId, mail, amount = 0 }: OrderMailPayload): Promise<void> {
    const order = await this.orders.find({ orderId });
    if (order === null) return;
    // The step to ready was taken back, or the order was refused after that step.
    if (mail === 'order-ready' && !['ready', 'collected'].includes(order.fulfilment)) return;
    const { number, pickupAt, grossAmount, customer, items } = order;
    await this.mail.send(customer, 'order', (texts, shop, language) => ({
      ...chooseSentences(mail, order, amount, texts),
      subject: texts.orders[mail].subject,
      chatText: `${texts.labels.order} #${number}`,
      labels: texts.labels,
      number,
      pickup: pickupAt === null ? '' : formatDateTime(pickupAt, shop.time_zone, language),
      // An address that is not verified may belong to a stranger, who must not receive text that the customer typed.
      note: hasVerifiedAddress(customer) ? (order.note ?? '') : '',
      total: formatRupiah(grossAmount),
      items: items.map(({ name, quantity, price }) => {
        return { name, quantity, sum: formatRupiah(price * quantity) };
      }),
    }));
  }
}

function chooseSentences(mail: OrderMail, order: Order, refundedNow: number, texts: MailTexts) {
  const { intro, closing } = texts.orders[mail];
  if (mail === 'order-refunded') return { intro: describeRefund(order, refundedNow, texts), closing };
  if (mail === 'order-refused') return { intro, closing: describeMoney(order, texts) };
  // The order may have been refused before the receipt was sent.
  return { intro, closing: order.fulfilment === 'refused' ? texts.closingIfRefused : closing };
}

function describeRefund({ isPaid, grossAmount }: Order, refundedNow: number, texts: MailTexts): string {
  const total = formatRupiah(grossAmount);
  if (refundedNow < grossAmount) return texts.refundedInPart(formatRupiah(refundedNow), total);
  // Another transaction still pays the order.
  return isPaid ? texts.refundedSurplus(total) : texts.refundedInFull(total);
}

function describeMoney(order: Order, texts: MailTexts): string {
  const { isPaid, grossAmount, refundedAmount, surplusAmount } = order;
  if (isPaid) return texts.willReturn(formatRupiah(grossAmount - refundedAmount + surplusAmount));
  return refundedAmount > 0 ? texts.haveReturned(formatRupiah(refundedAmount)) : texts.notPaid;
}
