import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { Text } from '../common/text.decorator.js';
import type { ProductRow } from './products.repository.js';
import { parsePrice } from './price.js';

/** A price sent as text; the DTO holds the exact decimal. */
const Price = (required: string): PropertyDecorator => {
  const problem = (value: unknown): string | null => {
    if (typeof value !== 'string' || value.trim() === '') return required;
    return parsePrice(value) === null ? 'price should be a number' : null;
  };
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? (parsePrice(value) ?? value) : value,
    ),
    ValidateBy({
      name: 'price',
      validator: {
        validate: (value: unknown) => problem(value) === null,
        defaultMessage: (argument) => problem(argument?.value) ?? '',
      },
    }),
  );
};

/** A list sent as repeated fields; one empty value is the empty list. */
const RemovedImages = (): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }: { value: unknown }) => {
      const list: unknown[] = Array.isArray(value) ? value : [value];
      return list.every((entry) => typeof entry === 'string')
        ? list.filter((entry) => entry !== '')
        : undefined;
    }),
    ValidateBy(
      { name: 'removedImages', validator: { validate: (value: unknown) => Array.isArray(value) } },
      { message: 'images.removed is required' },
    ),
  );

/** Fields of POST /api/products (interface.md 4.6). */
export class CreateProductDto {
  @Text({ required: 'product name is required', label: 'product name', maxLength: 255 })
  name!: string;

  @Text({ required: 'product description is required', label: 'product description', maxLength: 10_000 })
  description!: string;

  @Price('product price cannot be empty')
  price!: string;
}

/** Fields of PUT /api/products/{product_id} (interface.md 4.7). */
export class UpdateProductDto {
  @Text({ required: 'name is required', label: 'name', maxLength: 255 })
  name!: string;

  @Text({ required: 'description is required', label: 'description', maxLength: 10_000 })
  description!: string;

  @Price('price is required')
  price!: string;

  /** URLs of images to remove, as the service gave them. */
  @RemovedImages()
  'images.removed'!: string[];
}

/** A product as the list shows it (interface.md 4.5). */
export class ListedProductView {
  @ApiProperty({ example: 7 })
  readonly id: number;

  @ApiProperty({ example: 'Kue lapis legit' })
  readonly name: string;

  @ApiProperty({ type: String, nullable: true, example: 'Eighteen layers, baked one by one.' })
  readonly description: string | null;

  @ApiProperty({ description: 'Rupiah', example: 185000 })
  readonly price: number;

  @ApiProperty({
    type: [String],
    nullable: true,
    maxItems: 5,
    example: ['http://localhost:3000/api/images/0b8a4c6e-5d0f-4f2e-9c55-6f1f7e0a2b11.jpg'],
  })
  readonly images: string[] | null;

  constructor({ id, name, description, price, images }: ProductRow) {
    this.id = id;
    this.name = name;
    this.description = description;
    this.price = Number(price);
    this.images = images;
  }
}

/** A product as creation and update show it: without images an empty list (interface.md 4.6, 4.7). */
export class ProductView extends ListedProductView {
  @ApiProperty({
    type: [String],
    nullable: false,
    maxItems: 5,
    example: ['http://localhost:3000/api/images/0b8a4c6e-5d0f-4f2e-9c55-6f1f7e0a2b11.jpg'],
  })
  declare readonly images: string[];
}

/** Where the next page begins. */
export class ProductPageMeta {
  @ApiProperty({ description: 'Pass it as last_id for the next page', example: 7 })
  readonly lastProductId: number;

  constructor(lastProductId: number) {
    this.lastProductId = lastProductId;
  }
}

const FORM_FIELDS = {
  name: { type: 'string', maxLength: 255, example: 'Kue lapis legit' },
  description: { type: 'string', maxLength: 10_000, example: 'Eighteen layers, baked one by one.' },
  price: { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,2})?$', example: '185000' },
  images: {
    type: 'array',
    maxItems: 5,
    description: 'PNG or JPEG (.png, .jpg, .jpeg), 5 MiB each at most',
    items: { type: 'string', format: 'binary' },
  },
} as const;

/** OpenAPI schemas of the two forms, whose files no DTO holds. */
export const createProductForm = {
  type: 'object' as const,
  required: ['name', 'description', 'price'],
  properties: { ...FORM_FIELDS },
};

export const updateProductForm = {
  type: 'object' as const,
  required: ['name', 'description', 'price', 'images.removed[]'],
  properties: {
    ...FORM_FIELDS,
    'images.removed[]': {
      type: 'array' as const,
      description: 'URLs of images to remove; one empty value when none are',
      items: { type: 'string' as const },
    },
  },
};
