import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { parseRupiah } from '../common/rupiah.js';
import { LastIdQuery } from '../common/validation/query.decorators.js';
import { MaxCharacters, STORABLE, Trim } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.js';
import { TRANSACTION_STATUSES } from '../gateway/payment-gateway.js';
import type { Order } from '../orders/order.entity.js';
import type { OrderAction } from '../orders/order-action.entity.js';
import { FULFILMENTS } from '../orders/order-status.js';
import { UserView } from '../users/users.dto.js';
import { EVENT_SOURCES, OUTCOMES, type PaymentEvent } from './payment-event.entity.js';
import type { Transaction } from './transaction.js';

const INVALID_TRANSACTION_ID = { message: 'transaction_id should be the id of a transaction' };
const INVALID_REASON = { message: 'reason should be a text of at most 255 characters' };

export class RefundDto extends IdempotentRequest {
  /** Whole rupiah. Default: all that is not refunded yet. */
  @IsOptional()
  @WholeNumber({ min: 1, required: false, example: 50000 })
  amount?: number | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, example: 'The oven broke' })
  @IsOptional()
  @Trim({ ifBlank: null })
  @MaxCharacters(255, INVALID_REASON)
  @Matches(STORABLE, INVALID_REASON)
  reason?: string | null;

  /** Transaction whose money is returned. Default: the one that counts for the order. */
  @ApiPropertyOptional({ type: String, maxLength: 255, example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  @IsOptional()
  @MaxCharacters(255, INVALID_TRANSACTION_ID)
  @Matches(STORABLE, INVALID_TRANSACTION_ID)
  transaction_id?: string | null;

  /** Only record that the money was returned outside of the gateway. */
  @ApiPropertyOptional({ type: Boolean, example: false })
  @IsOptional()
  @IsBoolean({ message: 'manual should be true or false' })
  manual?: boolean | null;
}

export class HistoryQuery {
  @LastIdQuery('Id of the last event on the previous page.')
  last_id = 0;
}

/**
 * Matches a signature in a payload: a text with a SHA-512 in hexadecimal, in which each digit may be a JSON escape such as `\u0061`.
 * The signature does not cover `transaction_status`, so a person who sees a signature could send a false settlement with it.
 */
const SIGNATURE = /"([\da-f]|\\u00[\da-f]{2}){128}"/gi;

/** Payment event of any source. The name of the schema, which clients use, is older than the other sources. */
export class NotificationView {
  @ApiProperty({ type: 'integer', example: 41 })
  readonly id: number;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:06:40.010Z' })
  readonly received_at: Date;

  @ApiProperty({ enum: EVENT_SOURCES, example: 'notification' })
  readonly source: string;

  /**
   * `applied`: changed its transaction or ended the order. `duplicate`: reports what is already known. `late`: would move
   * its transaction back to an earlier state. `rejected`: a correctly signed notification that is invalid or implausible, or a
   * refund that the gateway or an operator rejected. `unconfirmed`: money for an order that has ended, which counts once the gateway confirms it.
   */
  @ApiProperty({ enum: OUTCOMES, example: 'applied' })
  readonly outcome: string;

  @ApiProperty({ example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  readonly transaction_id: string | null;

  @ApiProperty({ example: 'settlement' })
  readonly transaction_status: string | null;

  @ApiProperty({ example: '200' })
  readonly status_code: string | null;

  @ApiProperty({ example: '370000.00' })
  readonly gross_amount: string | null;

  @ApiProperty({ example: 'accept' })
  readonly fraud_status: string | null;

  /** Body as received, without the value of `signature_key`. If the event is not from the gateway, JSON that the service wrote. */
  @ApiProperty({ example: '{"transaction_status":"settlement"}' })
  readonly payload: string;

  constructor(event: PaymentEvent) {
    this.id = event.id;
    this.received_at = event.receivedAt;
    this.source = event.source;
    this.outcome = event.outcome;
    this.transaction_id = event.transactionId;
    this.transaction_status = event.status;
    this.status_code = event.statusCode;
    this.gross_amount = event.grossAmount;
    this.fraud_status = event.fraudStatus;
    this.payload = event.payload.replace(SIGNATURE, '"…"');
  }
}

export class HistoryMeta {
  /** Id of the last event on this page: the last_id for the next page. Null if the order has no payment events. */
  @ApiProperty({ type: 'integer', example: 41 })
  readonly lastNotificationId!: number | null;
}

export class TransactionView {
  @ApiProperty({ example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  readonly transaction_id: string;

  /** Id of the payment attempt, and so of the payment page, to which the transaction belongs. Null if the attempt is unknown. */
  @ApiProperty({ format: 'uuid' })
  readonly attempt_id: string | null;

  @ApiProperty({ example: 'gopay' })
  readonly payment_type: string | null;

  @ApiProperty({ enum: TRANSACTION_STATUSES, example: 'settlement' })
  readonly status: string;

  @ApiProperty({ example: 'accept' })
  readonly fraud_status: string | null;

  @ApiProperty({ type: 'integer', example: 370000 })
  readonly gross_amount: number;

  @ApiProperty({ type: 'integer', example: 0 })
  readonly refunded_amount: number;

  /** True if the order was paid with another transaction, so that this money has to be returned. */
  @ApiProperty({ example: false })
  readonly surplus: boolean;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:06:40.010Z' })
  readonly created_at: Date;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:06:40.010Z' })
  readonly updated_at: Date;

  constructor({ grossAmount }: Order, transaction: Transaction, surplus: readonly Transaction[]) {
    this.transaction_id = transaction.transactionId;
    this.attempt_id = transaction.attemptId;
    this.payment_type = transaction.paymentType;
    this.status = transaction.status;
    this.fraud_status = transaction.fraudStatus;
    this.gross_amount = parseRupiah(transaction.grossAmount) ?? grossAmount;
    this.refunded_amount = transaction.refundedAmount;
    this.surplus = surplus.includes(transaction);
    this.created_at = transaction.createdAt;
    this.updated_at = transaction.updatedAt;
  }
}

export class ActionView {
  /** A step in the bakery (`new` is a step back), a cancellation by the customer, or a refund. */
  @ApiProperty({ enum: [...FULFILMENTS, 'cancel', 'refund'], example: 'refund' })
  readonly action: string;

  /** Null for actions before version 1.3. */
  @ApiProperty()
  readonly by: UserView | null;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T10:06:40.010Z' })
  readonly at: Date;

  /** Whole rupiah of a refund, otherwise null. */
  @ApiProperty({ type: 'integer', example: 50000 })
  readonly amount: number | null;

  /** Reason of a refund, otherwise null. */
  @ApiProperty({ example: 'The box was wet' })
  readonly reason: string | null;

  constructor({ action, user, createdAt, amount, reason }: OrderAction) {
    this.action = action;
    this.by = user === null ? null : new UserView(user);
    this.at = createdAt;
    this.amount = amount;
    this.reason = reason;
  }
}
