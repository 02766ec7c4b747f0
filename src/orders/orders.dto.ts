import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateBy, ValidateNested } from 'class-validator';
import { isPlainObject } from '../common/validation.pipe.js';
import { ORDER_STATUSES, type OrderStatus } from './order-status.js';
import type { OrderItemRow, OrderRow } from './orders.repository.js';

const MAX_ITEMS = 50;
const MAX_QUANTITY = 999;

/** Message of an item whose product does not exist, or no longer. */
export const PRODUCT_GONE = 'product is no longer available';
const ITEMS_MESSAGE = `items should be a list of 1 to ${MAX_ITEMS} different products`;

/** A whole number as JSON has them: `"2"` is none. */
function WholeNumber(maximum: number, message: string): PropertyDecorator {
  return ValidateBy(
    {
      name: 'wholeNumber',
      validator: {
        validate: (value: unknown) =>
          typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= maximum,
      },
    },
    { message },
  );
}

/** One line of an order to be made. */
export class NewOrderItemDto {
  @ApiProperty({ type: 'integer', minimum: 1, example: 7 })
  @WholeNumber(Number.MAX_SAFE_INTEGER, 'product_id should be the id of a product')
  product_id!: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_QUANTITY, example: 2 })
  @WholeNumber(MAX_QUANTITY, `quantity should be a whole number from 1 to ${MAX_QUANTITY}`)
  quantity!: number;
}

/** A list of 1 to 50 objects with different product ids. */
const Items = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: [NewOrderItemDto], minItems: 1, maxItems: MAX_ITEMS }),
    Type(() => NewOrderItemDto),
    ValidateNested({ each: true }),
    ValidateBy(
      {
        name: 'items',
        validator: {
          validate: (value: unknown) =>
            Array.isArray(value) &&
            value.length >= 1 &&
            value.length <= MAX_ITEMS &&
            value.every(isPlainObject) &&
            new Set(value.map((item) => (item as NewOrderItemDto).product_id)).size === value.length,
        },
      },
      { message: ITEMS_MESSAGE },
    ),
  );

/** Body of POST /api/orders (decisions.md, Orders). */
export class CreateOrderDto {
  @Items()
  items!: NewOrderItemDto[];
}

/** A line of an order, with name and price as sold. */
export class OrderItemView {
  @ApiProperty({ example: 7 })
  readonly product_id: number;

  @ApiProperty({ example: 'Kue lapis legit' })
  readonly name: string;

  @ApiProperty({ description: 'Whole rupiah', example: 185000 })
  readonly price: number;

  @ApiProperty({ example: 2 })
  readonly quantity: number;

  constructor({ product_id, name, price, quantity }: OrderItemRow) {
    this.product_id = product_id;
    this.name = name;
    this.price = price;
    this.quantity = quantity;
  }
}

/** Of the page on which an order is paid. */
export const PAYMENT_PAGE_EXAMPLE = {
  token: { example: '3b7ad8a1c5f24e2f9f6e0d7a' },
  redirect_url: { example: 'http://localhost:3000/api/simulator/3b7ad8a1c5f24e2f9f6e0d7a' },
} as const;

/** An order (decisions.md, Orders). */
export class OrderView {
  @ApiProperty({ format: 'uuid', example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11' })
  readonly order_id: string;

  @ApiProperty({ enum: ORDER_STATUSES, example: 'pending' })
  readonly status: OrderStatus;

  @ApiProperty({ description: 'Whole rupiah: the sum of price × quantity', example: 370000 })
  readonly gross_amount: number;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly payment_type: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly fraud_status: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  readonly completed_at: Date | null;

  @ApiProperty({ type: String, format: 'date-time', example: '2026-11-20T10:05:12.123Z' })
  readonly created_at: Date;

  @ApiProperty({ type: [OrderItemView] })
  readonly items: OrderItemView[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Of the payment page, while it can be used',
    ...PAYMENT_PAGE_EXAMPLE.token,
  })
  readonly token: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The payment page, while it can be used',
    ...PAYMENT_PAGE_EXAMPLE.redirect_url,
  })
  readonly redirect_url: string | null;

  constructor(order: OrderRow) {
    this.order_id = order.order_id;
    this.status = order.status;
    this.gross_amount = Number(order.gross_amount);
    this.payment_type = order.payment_type;
    this.fraud_status = order.fraud_status;
    this.completed_at = order.completed_at;
    this.created_at = order.created_at;
    this.items = order.items.map((item) => new OrderItemView(item));
    this.token = order.token;
    this.redirect_url = order.redirect_url;
  }
}

/** Where the next page of orders begins. */
export class OrderPageMeta {
  @ApiProperty({
    description: 'Pass it as last_id for the next page',
    format: 'uuid',
    example: '5f0c2a3e-8a55-4c42-9df5-1b7f1a0f7a11',
  })
  readonly lastOrderId: string;

  constructor(lastOrderId: string) {
    this.lastOrderId = lastOrderId;
  }
}
