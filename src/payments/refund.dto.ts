import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { createHash } from 'node:crypto';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { STORABLE } from '../common/validation/text.decorator.js';

const AMOUNT = { message: 'amount should be a whole number from 1' };
const TRANSACTION_ID = { message: 'transaction_id should be the id of a transaction' };
const REASON = { message: 'reason should be a text of at most 255 characters' };

export class RefundDto extends IdempotentRequest {
  /** Whole rupiah. Default: all that is not refunded yet. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 50000 })
  @IsOptional()
  @Max(Number.MAX_SAFE_INTEGER, AMOUNT)
  @Min(1, AMOUNT)
  @IsInt(AMOUNT)
  amount?: number;

  @ApiPropertyOptional({ type: String, maxLength: 255, example: 'The oven broke' })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  @Matches(/^.{0,255}$/su, REASON)
  @Matches(STORABLE, REASON)
  reason?: string;

  /** Transaction whose money is returned. Default: the one that counts for the order. */
  @ApiPropertyOptional({ type: String, maxLength: 255, example: '9aed5972-5b6a-401e-894b-a32c91ed1a3a' })
  @IsOptional()
  @MaxLength(255, TRANSACTION_ID)
  @Matches(STORABLE, TRANSACTION_ID)
  @IsString(TRANSACTION_ID)
  transaction_id?: string | null;

  /** Only record that the money was returned outside of the gateway. */
  @ApiPropertyOptional({ example: false })
  @IsOptional()
  @IsBoolean({ message: 'manual should be true or false' })
  manual?: boolean;
}

/** Hashes a request as version 1.2 does, because an administrator may repeat a request with a key of that version. */
export function hashRequest({ amount, reason, manual, transaction_id }: RefundDto): Buffer {
  const canonical = [amount ?? null, reason ?? null, manual ?? false];
  const all = transaction_id == null ? canonical : [...canonical, transaction_id];
  return createHash('sha256').update(JSON.stringify(all)).digest();
}
