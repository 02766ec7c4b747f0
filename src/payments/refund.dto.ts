import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { IdempotentRequest } from '../common/idempotency.js';
import { STORABLE } from '../common/text.decorator.js';

const AMOUNT = { message: 'amount should be a whole number from 1' };
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

  /** Only record that the money was returned outside of the gateway. */
  @ApiPropertyOptional({ example: false })
  @IsOptional()
  @IsBoolean({ message: 'manual should be true or false' })
  manual?: boolean;
}
