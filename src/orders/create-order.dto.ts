import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { Request } from 'express';

const ITEMS = { message: 'items should be a list of 1 to 50 different products' };
const PRODUCT_ID = { message: 'product_id should be the id of a product' };
const QUANTITY = { message: 'quantity should be a whole number from 1 to 999' };

/** Message of an item whose product does not exist, or no longer. */
export const PRODUCT_GONE = 'product is no longer available';

/** One line of an order to be made. */
export class NewOrderItemDto {
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
}

/** Body of POST /api/orders. */
export class CreateOrderDto {
  @ApiProperty({ type: [NewOrderItemDto] })
  @Type(() => NewOrderItemDto)
  @ValidateNested({ each: true })
  @ArrayUnique((item: NewOrderItemDto) => item.product_id, ITEMS)
  @IsObject({ each: true, ...ITEMS })
  @ArrayMaxSize(50, ITEMS)
  @ArrayMinSize(1, ITEMS)
  @IsArray(ITEMS)
  items!: NewOrderItemDto[];
}

/** The body and its header, checked together, so that all failing fields are reported at once. */
export class OrderRequestDto extends CreateOrderDto {
  /** Under this header a client repeats a creation without repeating the order. */
  @ApiHideProperty()
  @IsOptional()
  @Length(1, 255, { message: 'Idempotency-Key should have 1 to 255 characters' })
  'idempotency-key'?: string;
}

/** Injects an `OrderRequestDto`. */
export const OrderRequest = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const { body, headers } = context.switchToHttp().getRequest<Request<object, unknown, object>>();
  return { ...body, 'idempotency-key': headers['idempotency-key'] };
});
