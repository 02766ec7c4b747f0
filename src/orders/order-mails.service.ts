import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { formatRupiah } from '../common/rupiah.js';
import { formatDateTime } from '../common/calendar.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService, type MailTemplate } from '../mail/mail.service.js';
import { ShopService } from '../shop/shop.service.js';
import type { Order } from './order.entity.js';
import { OrdersRepository } from './orders.repository.js';

const SUBJECTS = {
  'order-receipt': 'Your receipt',
  'order-ready': 'Your order is ready',
  'order-refused': 'We cannot make your order',
} as const satisfies Partial<Record<MailTemplate, string>>;
type OrderMail = keyof typeof SUBJECTS;

const SEND_ORDER_MAIL = 'send-order-mail';

/** Contains no address: the mail goes to the customer's address at the time of sending. */
type OrderMailPayload = Readonly<{ orderId: string; mail: OrderMail }>;

@Injectable()
export class OrderMailsService implements OnModuleInit {
  constructor(
    private readonly orders: OrdersRepository,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
    private readonly shop: ShopService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<OrderMailPayload>(SEND_ORDER_MAIL, (payload) => this.#send(payload), { kind: 'mail' });
  }

  async enqueue(tx: EntityManager, orderId: string, mail: OrderMail): Promise<void> {
    const payload: OrderMailPayload = { orderId, mail };
    await this.jobs.enqueue(tx, SEND_ORDER_MAIL, payload, { key: `${SEND_ORDER_MAIL}:${orderId}:${mail}` });
  }

  async #send({ orderId, mail }: OrderMailPayload): Promise<void> {
    const order = await this.orders.findWithCustomer(orderId);
    if (order === null) return;
    await this.mail.send({
      to: order.customer,
      subject: SUBJECTS[mail],
      template: mail,
      context: {
        number: order.number,
        pickup: order.pickupAt === null ? '' : formatDateTime(order.pickupAt, await this.shop.timeZone()),
        // An address that is not verified may belong to a stranger, who must not receive text that the customer typed.
        note: order.customer.emailVerifiedAt instanceof Date ? (order.note ?? '') : '',
        // Used by the receipt. The order may have been refused before it was paid.
        next:
          order.fulfilment === 'refused'
            ? 'We cannot make this order and will return your payment.'
            : 'We write to you again when it is ready.',
        money: describeMoney(order),
        total: formatRupiah(order.grossAmount),
        items: order.items.map(({ name, quantity, price }) => {
          return { name, quantity, sum: formatRupiah(price * quantity) };
        }),
      },
    });
  }
}

/** Returns the text about the payment for the mail about a refused order. */
function describeMoney({ isPaid, grossAmount, refundedAmount }: Order): string {
  const rest = formatRupiah(grossAmount - refundedAmount);
  if (isPaid) return `We received your payment and will return ${rest} to you.`;
  if (refundedAmount > 0) return `We have returned ${formatRupiah(refundedAmount)} to you.`;
  return 'We have received no payment for it. If a payment still arrives, we will return it to you.';
}
