import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsObject,
  IsOptional,
  ValidateNested,
} from 'class-validator';
import { Instant } from '../common/calendar.js';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { OptionalText, PhoneNumber } from '../common/validation/text.decorator.js';
import { WholeNumber } from '../common/validation/whole-number.decorator.js';

const ITEMS = { message: 'items should be a list of 1 to 50 different products' };

export const PRODUCT_GONE = 'product is no longer available';
export const PICKUP_IMPOSSIBLE = 'pickup is not possible at this time';
export const SHOP_CLOSED = 'the shop takes no orders at the moment';

class NewOrderItemDto {
  @WholeNumber({ min: 1, message: 'product_id should be the id of a product', example: 7 })
  product_id!: number;

  @WholeNumber({ min: 1, max: 999, example: 2 })
  quantity!: number;

  /** Price that the customer was shown, in whole rupiah. If the catalog has another price, the order is rejected. */
  @IsOptional()
  @WholeNumber({ min: 0, required: false, example: 185000 })
  price?: number | null;
}

export class CreateOrderDto extends IdempotentRequest {
  @ApiProperty({ type: [NewOrderItemDto] })
  @Type(() => NewOrderItemDto)
  @ValidateNested({ each: true })
  @ArrayUnique((item: NewOrderItemDto) => item.product_id, ITEMS)
  @IsObject({ each: true, ...ITEMS })
  @ArrayMaxSize(50, ITEMS)
  @ArrayMinSize(1, ITEMS)
  @IsArray(ITEMS)
  items!: NewOrderItemDto[];

  /** ISO 8601 with an offset: any time in a pickup window of GET /api/shop. */
  @ApiPropertyOptional({ nullable: true, format: 'date-time', example: '2026-11-24T10:30:00+07:00' })
  @IsOptional()
  @Instant({ message: PICKUP_IMPOSSIBLE })
  pickup_at?: Date | null;

  @PhoneNumber({ ifBlank: '', required: false })
  phone?: string | null;

  @OptionalText({
    maxLength: 500,
    ifBlank: undefined,
    required: false,
    nullable: true,
    example: 'Please write "Selamat ulang tahun" on it',
  })
  note?: string | null;
}
