import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow, ArrayMaxSize, IsArray, IsOptional, Matches } from 'class-validator';
import { toEtag } from '../common/http/if-match.js';
import { LastIdQuery, SearchQuery } from '../common/validation/query.decorators.js';
import { Text } from '../common/validation/text.decorator.js';
import { isId } from '../common/validation/whole-number.js';
import { MAX_IMAGES } from '../images/image-host.js';
import type { Product } from './product.entity.js';

/** A product with the URLs of its images in their order, instead of their rows. */
export type ProductWithUrls = Readonly<Omit<Product, 'images'>> & { readonly images: string[] };

export class ProductParams {
  // Not an exception for a text that is no id: invalid fields (400) are reported before an unknown product (404). 0 is the id of no
  // product.
  @ApiProperty({ type: 'integer', minimum: 1, example: 7 })
  @Transform(({ value }: { value: string }) =>
    /^[1-9]\d{0,9}$/.test(value) && isId(Number(value)) ? Number(value) : 0,
  )
  @Allow()
  product_id!: number;
}

export class ProductListQuery {
  @LastIdQuery('Last id of the previous page')
  last_id = 0;

  @SearchQuery('Words that the name contains, in any order; case and accents do not matter')
  q?: string;
}

const NAME = { maxLength: 255, example: 'Kue lapis legit' };
const DESCRIPTION = { maxLength: 10_000, example: 'Eighteen layers, baked one by one.' };

/** Values of `numeric(14, 2)` that are not negative. */
const PRICE = /^\d{1,12}(\.\d{1,2})?$/;
/** Number with at most two decimal places. A number that is not a price is out of range. */
const NUMBER = /^-?\d+(\.\d{1,2})?$/;

/** Validates a price, which is sent as text so that it stays an exact decimal. `required` is the message for a missing price. */
function Price(required: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, pattern: PRICE.source, example: '185000' }),
    // Leading zeros must not use up the 12 digits.
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.trim().replace(/^0+(?=\d)/, '') : value,
    ),
    Matches(/\S/, { message: required }),
    Matches(NUMBER, { message: 'price should be a number' }),
    Matches(PRICE, { message: 'price should be from 0 to 999999999999.99' }),
  );
}

/** The field `images`. `ImageFormBody` validates the files. This class rejects text that was sent instead of files. */
class FormWithImages {
  /** PNG or JPEG, 5 MiB each at most. The name of each file must end with .png, .jpg or .jpeg */
  @ApiPropertyOptional({ type: 'array', maxItems: MAX_IMAGES, items: { type: 'string', format: 'binary' } })
  @Transform(({ value }: { value: unknown }) => parseTexts(value))
  @IsOptional()
  @ArrayMaxSize(0, { message: 'images should be files' })
  images?: unknown;
}

/** Form of POST /api/products (contract 4.6). */
export class CreateProductDto extends FormWithImages {
  @Text({ ...NAME, label: 'product name' })
  name!: string;

  @Text({ ...DESCRIPTION, label: 'product description' })
  description!: string;

  @Price('product price cannot be empty')
  price!: string;
}

/** Form of PUT /api/products/{product_id} (contract 4.7). */
export class UpdateProductDto extends FormWithImages {
  @Text(NAME)
  name!: string;

  @Text(DESCRIPTION)
  description!: string;

  @Price('price is required')
  price!: string;

  /** URLs of the images to remove; one empty value to remove none */
  @ApiProperty({ name: 'images.removed[]', type: [String] })
  @Transform(({ value }: { value: unknown }) => parseTexts(value))
  @IsArray({ message: 'images.removed is required' })
  'images.removed'!: string[];
}

/** Returns the values of a repeated field without empty values; undefined if a value is not a text. */
function parseTexts(value: unknown): string[] | undefined {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.every((entry) => typeof entry === 'string') ? list.filter((entry) => entry !== '') : undefined;
}

const IMAGE_URLS: ApiPropertyOptions = {
  type: [String],
  maxItems: MAX_IMAGES,
  example: ['http://localhost:3000/api/images/0b8a4c6e-5d0f-4f2e-9c55-6f1f7e0a2b11.jpg'],
};

/** A product as in the list: `images` is null if the product has none (contract 4.5). */
export class ListedProductView {
  @ApiProperty({ type: 'integer', example: 7 })
  readonly id: number;

  @ApiProperty({ example: NAME.example })
  readonly name: string;

  @ApiProperty({ example: DESCRIPTION.example })
  readonly description: string | null;

  @ApiProperty({ description: 'Rupiah. An order rounds a fraction to whole rupiah', example: 185000 })
  readonly price: number;

  @ApiProperty(IMAGE_URLS)
  readonly images: string[] | null;

  constructor({ id, name, description, price, images }: ProductWithUrls) {
    this.id = id;
    this.name = name;
    this.description = description;
    this.price = Number(price);
    this.images = images.length === 0 ? null : images;
  }
}

/** A product in the responses of creation and update: `images` is never null, but may be empty (contract 4.6, 4.7). */
export class ProductView extends ListedProductView {
  @ApiProperty({ ...IMAGE_URLS, nullable: false })
  declare readonly images: string[];

  constructor(product: ProductWithUrls) {
    super(product);
    this.images = product.images;
  }
}

/** ETag of a product. Each update changes the ETag, even if the product stays the same. */
export function toProductEtag(product: ProductWithUrls): string {
  return toEtag([new ListedProductView(product), product.updatedAt]);
}

export class ProductPageMeta {
  @ApiProperty({ type: 'integer', description: 'Pass it as last_id for the next page', example: 7 })
  readonly lastProductId!: number;
}
