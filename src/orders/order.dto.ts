import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, isUUID } from 'class-validator';
import {
  type PaymentPage,
  TRANSACTION_STATUSES,
  type TransactionStatus,
} from '../gateway/payment-gateway.js';
import { UserView } from '../users/users.dto.js';
import type { SoldItem } from './order-item.entity.js';
import { type Fulfilment, FULFILMENTS } from './order-status.js';
import type { Order } from './order.entity.js';

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

export class OrderParams {
  @ApiProperty({ format: 'uuid' })
  // Text that is not a UUID becomes the nil UUID. No order has this id, so the response is 404.
  @Transform(({ value }: { value: string }) => (isUUID(value, 'loose') ? value.toLowerCase() : NIL_UUID))
  @Allow()
  order_id!: string;
}

class OrderItemView {
  @ApiProperty({ type: 'integer', example: 7 })
  readonly product_id: number;

  @ApiProperty({ example: 'Kue lapis legit' })
  readonly name: string;

  @ApiProperty({ type: 'integer', description: 'Whole rupiah', example: 185000 })
  readonly price: number;

  @ApiProperty({ type: 'integer', example: 2 })
  readonly quantity: number;

  constructor({ productId, name, price, quantity }: SoldItem) {
    this.product_id = productId;
    this.name = name;
    this.price = price;
    this.quantity = quantity;
  }
}

export class PaymentPageView {
  @ApiProperty({ example: '3b7ad8a1c5f24e2f9f6e0d7a' })
  readonly token: string;

  @ApiProperty({
    format: 'uri',
    example: 'http://localhost:3000/api/simulator/3b7ad8a1c5f24e2f9f6e0d7a',
  })
  readonly redirect_url: string;

  constructor({ token, redirectUrl }: PaymentPage) {
    this.token = token;
    this.redirect_url = redirectUrl;
  }
}

export class OrderView {
  @ApiProperty({ format: 'uuid', example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11' })
  readonly order_id: string;

  /**
   * Status of the payment, in the gateway's words. `settlement` and `partial_refund` mean paid, and so does `capture` unless
   * `fraud_status` is `challenge` or `deny`. While `pay_until` is set, the customer can still pay, whatever the status.
   * Afterwards, a `pending`, an `authorize` or a `capture` in review can still become paid.
   */
  @ApiProperty({ enum: TRANSACTION_STATUSES, example: 'pending' })
  readonly status: TransactionStatus;

  @ApiProperty({ enum: FULFILMENTS, description: 'Progress in the bakery', example: 'new' })
  readonly fulfilment: Fulfilment;

  @ApiProperty({ type: 'integer', description: 'Whole rupiah: the sum of price × quantity', example: 370000 })
  readonly gross_amount: number;

  /** Whole rupiah that were returned to the customer. */
  @ApiProperty({ type: 'integer', example: 0 })
  readonly refunded_amount: number;

  @ApiProperty({ example: null })
  readonly payment_type: string | null;

  /** Result of the gateway's fraud check of a card payment: `accept`, `challenge` or `deny`. */
  @ApiProperty({ example: null })
  readonly fraud_status: string | null;

  /** Time at which the status became `settlement` or `capture`. Null in every other status, also after a refund. */
  @ApiProperty({ format: 'date-time', example: null })
  readonly completed_at: Date | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:05:12.123Z' })
  readonly created_at: Date;

  /** Time until which the order can be paid. Null if the order was paid, cancelled or refused, or if the time has passed. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T10:05:12.123Z' })
  readonly pay_until: Date | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-24T03:30:00.000Z' })
  readonly pickup_at: Date | null;

  @ApiProperty({ example: '+62 812-3456-7890' })
  readonly phone: string | null;

  @ApiProperty({ example: null })
  readonly note: string | null;

  @ApiProperty({ type: [OrderItemView] })
  readonly items: OrderItemView[];

  /** Token of the payment page. Null whenever `redirect_url` is null. */
  @ApiProperty()
  readonly token: string | null;

  /** URL of the payment page. Null unless the order is pending and open, and the page has not expired. */
  @ApiProperty({ format: 'uri' })
  readonly redirect_url: string | null;

  constructor(order: Order) {
    const page = order.status === 'pending' && order.isOpen ? order.livePage : null;
    this.order_id = order.orderId;
    this.status = order.status;
    this.fulfilment = order.fulfilment;
    this.gross_amount = order.grossAmount;
    this.refunded_amount = order.refundedAmount;
    this.payment_type = order.paymentType;
    this.fraud_status = order.fraudStatus;
    this.completed_at = order.completedAt;
    this.created_at = order.createdAt;
    this.pay_until = order.isOpen ? order.endOfPayment : null;
    this.pickup_at = order.pickupAt;
    this.phone = order.phone;
    this.note = order.note;
    this.items = order.items.map((item) => new OrderItemView(item));
    this.token = page?.token ?? null;
    this.redirect_url = page?.redirectUrl ?? null;
  }
}

export class AdminOrderView extends OrderView {
  @ApiProperty()
  readonly customer: UserView;

  /** True if money must be returned: the order is refused and paid, or the shop has received a surplus. */
  @ApiProperty({ example: false })
  readonly refund_due: boolean;

  constructor(order: Order) {
    super(order);
    this.customer = new UserView(order.customer);
    this.refund_due = order.isRefundDue;
  }
}

export class OrderPageMeta {
  /** Pass this id as last_id for the next page. */
  @ApiProperty({ format: 'uuid', example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11' })
  readonly lastOrderId!: string;
}
