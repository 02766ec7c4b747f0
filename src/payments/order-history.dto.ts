import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt } from 'class-validator';
import { parseLastId } from '../common/ids.js';
import { EVENT_SOURCES, OUTCOMES, type StoredPaymentEvent } from './stored-payment-event.entity.js';

export class HistoryQuery {
  /** Id of the last event on the previous page. */
  @ApiPropertyOptional({ type: 'number' })
  @Transform(({ value }: { value: unknown }) => parseLastId(value))
  @IsInt({ message: 'last_id should be a number' })
  last_id = 0;
}

/** A payment event of any source, not only a notification. */
export class NotificationView {
  @ApiProperty({ example: 41 })
  readonly id: number;

  @ApiProperty({ type: String, format: 'date-time', example: '2026-11-20T10:06:40.010Z' })
  readonly received_at: Date;

  @ApiProperty({ enum: EVENT_SOURCES, example: 'notification' })
  readonly source: string;

  /** `rejected`: signed correctly, but invalid or implausible. */
  @ApiProperty({ enum: OUTCOMES, example: 'applied' })
  readonly outcome: string;

  @ApiProperty({ type: String, nullable: true, example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  readonly transaction_id: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'settlement' })
  readonly transaction_status: string | null;

  @ApiProperty({ type: String, nullable: true, example: '200' })
  readonly status_code: string | null;

  @ApiProperty({ type: String, nullable: true, example: '370000.00' })
  readonly gross_amount: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'accept' })
  readonly fraud_status: string | null;

  /** Body as received; JSON that the service wrote if the event is not from the gateway. */
  @ApiProperty({ example: '{"transaction_status":"settlement"}' })
  readonly payload: string;

  constructor(event: StoredPaymentEvent) {
    this.id = Number(event.id);
    this.received_at = event.receivedAt;
    this.source = event.source;
    this.outcome = event.outcome;
    this.transaction_id = event.transactionId;
    this.transaction_status = event.transactionStatus;
    this.status_code = event.statusCode;
    this.gross_amount = event.grossAmount;
    this.fraud_status = event.fraudStatus;
    this.payload = event.payload;
  }
}

export class HistoryMeta {
  /** Id of the last event on this page: the last_id for the next page. Null if the order has no payment events. */
  @ApiProperty({ example: 41 })
  readonly lastNotificationId!: number | null;
}
