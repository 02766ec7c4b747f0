import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Put,
  Query,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures, TOO_MANY_IMAGES } from '../common/errors.js';
import { parseId, parseLastId } from '../common/ids.js';
import { ApiEndpoint } from '../common/openapi.decorators.js';
import { Form, ImageFilesPipe, type ImageForm } from '../images/image-files.pipe.js';
import { MultipartInterceptor } from '../images/multipart.interceptor.js';
import { bodyOf, tagOf } from './listing/list-page.js';
import { ProductListService } from './listing/product-list.service.js';
import {
  CreateProductDto,
  createProductForm,
  ListedProductView,
  ProductPageMeta,
  ProductView,
  UpdateProductDto,
  updateProductForm,
} from './products.dto.js';
import { ProductsService } from './products.service.js';

const createForm = new ImageFilesPipe(CreateProductDto, {
  failure: 'validation error',
  unsupported: 'image extension is not supported',
  tooMany: TOO_MANY_IMAGES,
  unkept: failures.productCreation,
});
const updateForm = new ImageFilesPipe(UpdateProductDto, {
  failure: 'validation errors',
  unsupported: 'invalid file format, only .png or .jpg files are accepted',
  unkept: failures.unexpected,
});
const LAST_ID = { last_id: 'last_id should be a number' };
const PRODUCT_ID = { name: 'product_id', schema: { type: 'integer', minimum: 1 }, example: 7 } as const;

@ApiTags('Products')
@Controller('products')
export class ProductsController {
  constructor(
    private readonly products: ProductsService,
    private readonly productList: ProductListService,
  ) {}

  @Get()
  @ApiQuery({
    name: 'last_id',
    required: false,
    schema: { type: 'number' },
    description: 'Show what comes after this id',
  })
  @ApiEndpoint({
    summary: 'A page of 50 products, ordered by id',
    description: 'The end of the list is the 404. `images` is null for a product without images.',
    access: 'user',
    success: { status: 200, data: { meta: ProductPageMeta, products: [ListedProductView] } },
    failures: [failures.validation(LAST_ID), failures.notFound()],
  })
  async list(@Res() response: Response, @Query('last_id') lastId?: unknown): Promise<void> {
    const afterId = lastId === undefined ? 0 : parseLastId(lastId);
    if (afterId === null) throw failures.validation(LAST_ID);
    const page = await this.productList.page(afterId);
    if (page === null) throw failures.notFound();
    // Past the envelope's interceptor: the page comes serialised, envelope included.
    response.setHeader('ETag', tagOf(page));
    response.type('json').send(Buffer.concat(bodyOf(page).map((piece) => Buffer.from(piece))));
  }

  @Get(':product_id')
  @ApiParam(PRODUCT_ID)
  @ApiEndpoint({
    summary: 'One product',
    access: 'user',
    success: { status: 200, data: { products: ListedProductView } },
    failures: [failures.malformedRequest(), failures.notFound()],
  })
  async show(@Param('product_id') productId: string): Promise<{ products: ListedProductView }> {
    return { products: new ListedProductView(await this.products.find(idOf(productId))) };
  }

  @Post()
  @UseGuards(AdminGuard)
  @UseInterceptors(MultipartInterceptor)
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: createProductForm })
  @ApiEndpoint({
    summary: 'Create a product with up to 5 images',
    description: 'All or nothing: if one image cannot be stored, there is no product.',
    access: 'admin',
    success: { status: 201, data: { products: ProductView } },
    failures: [
      failures.validation({ name: 'product name is required', images: 'image extension is not supported' }),
      failures.productCreation(undefined),
    ],
    takes: 'form',
    changesState: true,
  })
  async create(@Form(createForm) form: ImageForm<CreateProductDto>): Promise<{ products: ProductView }> {
    return { products: new ProductView(await this.products.create(form)) };
  }

  @Put(':product_id')
  @UseGuards(AdminGuard)
  @UseInterceptors(MultipartInterceptor)
  @ApiParam(PRODUCT_ID)
  @ApiConsumes('multipart/form-data')
  @ApiBody({ schema: updateProductForm })
  @ApiEndpoint({
    summary: 'Replace a product, remove images, add images',
    description: 'An image is identified by its URL. New images follow the remaining ones.',
    access: 'admin',
    success: { status: 200, data: { products: ProductView } },
    failures: [
      failures.validation({ price: 'price should be a number' }, 'validation errors'),
      failures.tooManyImages(),
      failures.notFound(),
    ],
    takes: 'form',
    changesState: true,
  })
  async update(
    @Param('product_id') productId: string,
    @Form(updateForm) form: ImageForm<UpdateProductDto>,
  ): Promise<{ products: ProductView }> {
    return { products: new ProductView(await this.products.update(idOf(productId), form)) };
  }

  @Delete(':product_id')
  @HttpCode(204)
  @UseGuards(AdminGuard)
  @ApiParam(PRODUCT_ID)
  @ApiEndpoint({
    summary: 'Delete a product and its images',
    access: 'admin',
    success: { status: 204 },
    failures: [failures.malformedRequest(), failures.notFound()],
    changesState: true,
  })
  async delete(@Param('product_id') productId: string): Promise<void> {
    await this.products.delete(idOf(productId));
  }
}

/** @throws Failure 404 for what cannot be a product's id */
function idOf(text: string): number {
  const id = parseId(text);
  if (id === null) throw failures.notFound();
  return id;
}
