import {
  Controller,
  Delete,
  Get,
  Param,
  Post,
  Put,
  Query,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AdminGuard } from '../auth/admin.guard.js';
import { failures, TOO_MANY_IMAGES } from '../common/errors.js';
import { idOf } from '../common/ids.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { FormInterceptor } from '../images/form.interceptor.js';
import { Form, ImageFormPipe } from '../images/image-form.pipe.js';
import { ProductPages, sendPage } from './product-pages.js';
import {
  CreateProductDto,
  ListedProductView,
  ProductListQuery,
  ProductPageMeta,
  ProductView,
  UpdateProductDto,
} from './products.dto.js';
import { ProductsService } from './products.service.js';

const createForm = new ImageFormPipe(CreateProductDto, {
  failure: 'validation error',
  extension: 'image extension is not supported',
  tooMany: TOO_MANY_IMAGES,
});
const updateForm = new ImageFormPipe(UpdateProductDto, {
  failure: 'validation errors',
  extension: 'invalid file format, only .png or .jpg files are accepted',
});
const PRODUCT_ID = { name: 'product_id', schema: { type: 'integer', minimum: 1 }, example: 7 } as const;

@ApiTags('Products')
@Controller('products')
export class ProductsController {
  constructor(
    private readonly products: ProductsService,
    private readonly pages: ProductPages,
  ) {}

  @Get()
  @ApiEndpoint({
    summary: 'A page of 50 products, or of those with a text in their name, ordered by id',
    description: 'The end of the list is the 404. `images` is null for a product without images.',
    access: 'user',
    success: { status: 200, data: { meta: ProductPageMeta, products: [ListedProductView] } },
    failures: [failures.validation({ last_id: 'last_id should be a number' }), failures.notFound()],
  })
  async list(@Query() { last_id, q }: ProductListQuery, @Res() response: Response): Promise<void> {
    const page = await (q === undefined ? this.pages.after(last_id) : this.pages.found(q, last_id));
    if (page === null) throw failures.notFound();
    // Sent as it is: the page holds the envelope already.
    sendPage(response, page);
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
  @UseInterceptors(FormInterceptor)
  @ApiBody({ type: CreateProductDto })
  @ApiEndpoint({
    summary: 'Create a product with up to 5 images',
    description: 'All or nothing: if one image cannot be stored, there is no product.',
    access: 'admin',
    success: { status: 201, data: { products: ProductView } },
    failures: [
      failures.validation({ name: 'product name is required', images: 'image extension is not supported' }),
      failures.imageTooLarge(),
      failures.productCreation(undefined),
    ],
    takes: 'form',
  })
  async create(@Form(createForm) form: Readonly<CreateProductDto>): Promise<{ products: ProductView }> {
    return { products: new ProductView(await this.products.create(form)) };
  }

  @Put(':product_id')
  @UseGuards(AdminGuard)
  @UseInterceptors(FormInterceptor)
  @ApiParam(PRODUCT_ID)
  @ApiBody({ type: UpdateProductDto })
  @ApiEndpoint({
    summary: 'Replace a product, remove images, add images',
    description: 'An image is identified by its URL. New images follow the remaining ones.',
    access: 'admin',
    success: { status: 200, data: { products: ProductView } },
    failures: [
      failures.validation({ price: 'price should be a number' }, 'validation errors'),
      failures.tooManyImages(),
      failures.imageTooLarge(),
      failures.notFound(),
    ],
    takes: 'form',
  })
  async update(
    @Param('product_id') productId: string,
    @Form(updateForm) form: Readonly<UpdateProductDto>,
  ): Promise<{ products: ProductView }> {
    return { products: new ProductView(await this.products.update(idOf(productId), form)) };
  }

  @Delete(':product_id')
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
