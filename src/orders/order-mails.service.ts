import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { rupiah } from '../common/rupiah.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MailService, type MailTemplate } from '../mail/mail.service.js';
import { OrdersRepository } from './orders.repository.js';

/** What a customer is told of an order: that it is paid, and that it can be collected. */
const SUBJECTS = {
  'order-receipt': 'Your receipt',
  'order-ready': 'Your order is ready',
} as const satisfies Partial<Record<MailTemplate, string>>;
type OrderMail = keyof typeof SUBJECTS;

const SEND_ORDER_MAIL = 'send-order-mail';

/** Holds no address: the mail goes to the one that the customer has when it is sent. */
type OrderMailPayload = Readonly<{ orderId: string; mail: OrderMail }>;

/** Mails to customers about their orders. */
@Injectable()
export class OrderMailsService implements OnModuleInit {
  constructor(
    private readonly orders: OrdersRepository,
    private readonly jobs: JobsService,
    private readonly mail: MailService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<OrderMailPayload>(SEND_ORDER_MAIL, (payload) => this.#send(payload), { kind: 'mail' });
  }

  /** Queues a mail to the order's customer, which leaves if the transaction commits. */
  async enqueue(tx: EntityManager, orderId: string, mail: OrderMail): Promise<void> {
    const payload: OrderMailPayload = { orderId, mail };
    await this.jobs.enqueue(tx, SEND_ORDER_MAIL, payload, { key: `${SEND_ORDER_MAIL}:${orderId}:${mail}` });
  }

  async #send({ orderId, mail }: OrderMailPayload): Promise<void> {
    const order = await this.orders.findWithCustomer(orderId);
    if (order === null) return;
    await this.mail.send({
      to: order.customer.email,
      subject: SUBJECTS[mail],
      template: mail,
      context: {
        fullname: order.customer.fullname,
        orderId,
        next:
          order.fulfilment === 'refused'
            ? 'We cannot make this order. Please write to us about your payment.'
            : 'We write to you again when it is ready.',
        total: rupiah(Number(order.grossAmount)),
        items: order.items.map(({ name, quantity, price }) => ({
          name,
          quantity,
          sum: rupiah(Number(price) * quantity),
        })),
      },
    });
  }
}
