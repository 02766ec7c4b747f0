import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { MaxCharacters, STORABLE, Trim } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.js';

const INVALID_TRANSACTION_ID = { message: 'transaction_id should be the id of a transaction' };
const INVALID_REASON = { message: 'reason should be a text of at most 255 characters' };

export class RefundDto extends IdempotentRequest {
  /** Whole rupiah. Default: all that is not refunded yet. */
  @IsOptional()
  @WholeNumber({ min: 1, required: false, example: 50000 })
  amount?: number | null;

  @ApiPropertyOptional({ type: String, maxLength: 255, example: 'The oven broke' })
  @IsOptional()
  // A blank reason stays '': with null, the digest of a repeated request would differ from that of version 1.2.
  @Trim({ ifBlank: '' })
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
