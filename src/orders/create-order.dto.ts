import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { parseInstant } from '../common/calendar.js';
import { IdempotentRequest } from '../common/http/idempotency.js';
import { MaxCharacters, STORABLE } from '../common/validation/text.decorator.js';

const ITEMS = { message: 'items should be a list of 1 to 50 different products' };
const PRODUCT_ID = { message: 'product_id should be the id of a product' };
const QUANTITY = { message: 'quantity should be a whole number from 1 to 999' };
const PRICE = { message: 'price should be a whole number from 0' };

export const PRODUCT_GONE = 'product is no longer available';
export const PICKUP_IMPOSSIBLE = 'pickup is not possible at this time';
export const SHOP_CLOSED = 'the shop takes no orders at the moment';
const PICKUP = { message: PICKUP_IMPOSSIBLE };

class NewOrderItemDto {
  @ApiProperty({ type: 'integer', example: 7 })
  @Max(Number.MAX_SAFE_INTEGER, PRODUCT_ID)
  @Min(1, PRODUCT_ID)
  @IsInt(PRODUCT_ID)
  product_id!: number;

  @ApiProperty({ type: 'integer', example: 2 })
  @Max(999, QUANTITY)
  @Min(1, QUANTITY)
  @IsInt(QUANTITY)
  quantity!: number;

  /** Price that the customer was shown, in whole rupiah. If the catalog has another price, the order is rejected. */
  @ApiPropertyOptional({ type: 'integer', example: 185000 })
  @IsOptional()
  @Max(Number.MAX_SAFE_INTEGER, PRICE)
  @Min(0, PRICE)
  @IsInt(PRICE)
  price?: number;
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
  @ValidateBy({ name: 'isInstant', validator: { validate: (value) => parseInstant(value) !== null } }, PICKUP)
  pickup_at?: string;

  @ApiPropertyOptional({ nullable: true, minLength: 5, maxLength: 32, example: '+62 812-3456-7890' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))
  @IsOptional()
  @Matches(/^[0-9 +\-().]{5,32}$/, { message: 'phone should be a phone number' })
  phone?: string;

  @ApiPropertyOptional({
    nullable: true,
    maxLength: 500,
    example: 'Please write "Selamat ulang tahun" on it',
  })
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.trim() || undefined : value,
  )
  @IsOptional()
  @MaxCharacters(500, { message: 'note can have 500 characters at max' })
  @Matches(STORABLE, { message: 'note contains a character that is not allowed' })
  @IsString({ message: 'note should be a text' })
  note?: string;
}
