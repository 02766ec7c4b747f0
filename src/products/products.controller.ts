import { Controller, Delete, Get, Param, Post, Put, Query, Res, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentUser, type Principal } from '../common/current-user.decorator.js';
import { failures, TOO_MANY_IMAGES } from '../common/errors.js';
import { ProductIdPipe } from '../common/ids.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { FormInterceptor } from '../images/form.interceptor.js';
import { Form, type ImageForm, ImageFormPipe } from '../images/image-form.pipe.js';
import { ProductPages, sendPage } from './product-pages.js';
import {
  CreateProductDto,
  ListedProductView,
  PRODUCT_ID_PARAM,
  ProductListQuery,
  ProductPageMeta,
  ProductView,
  UpdateProductDto,
} from './products.dto.js';
import { ProductsService } from './products.service.js';

const creationPipe = new ImageFormPipe(CreateProductDto, {
  failure: 'validation error',
  extension: 'image extension is not supported',
  tooMany: TOO_MANY_IMAGES,
});
const updatePipe = new ImageFormPipe(UpdateProductDto, {
  failure: 'validation errors',
  extension: 'invalid file format, only .png or .jpg files are accepted',
});

/** Access to the product list. `ProductListMiddleware` checks the same access. */
export const LIST_ACCESS = 'catalog';

@ApiTags('Products')
@Controller('products')
export class ProductsController {
  constructor(
    private readonly products: ProductsService,
    private readonly pages: ProductPages,
  ) {}

  @Get()
  @ApiEndpoint({
    summary: 'List products, or search for words in their names, ordered by id',
    description:
      'A page contains up to 50 products. If a page would be empty, the response is 404. `images` is null for a product without images.',
    access: LIST_ACCESS,
    success: { status: 200, data: { meta: ProductPageMeta, products: [ListedProductView] } },
    failures: [failures.validation({ last_id: 'last_id should be a number' }), failures.notFound()],
  })
  async list(@Query() { last_id, q }: ProductListQuery, @Res() response: Response): Promise<void> {
    const page = await this.pages.find(last_id, q);
    if (page === null) throw failures.notFound();
    sendPage(response, page);
  }

  @Get(':product_id')
  @ApiParam(PRODUCT_ID_PARAM)
  @ApiEndpoint({
    summary: 'Get a product',
    description: 'Only administrators get a product that is not available. For others it is a 404.',
    access: 'catalog',
    success: { status: 200, data: { products: ListedProductView } },
    failures: [failures.malformedRequest(), failures.notFound()],
  })
  async show(@Param('product_id', ProductIdPipe) productId: number, @CurrentUser() caller?: Principal) {
    return { products: new ListedProductView(await this.products.findFor(caller, productId)) };
  }

  @Post()
  @UseInterceptors(FormInterceptor)
  @ApiBody({ type: CreateProductDto })
  @ApiEndpoint({
    summary: 'Create a product with up to 5 images',
    description: 'If one image cannot be stored, the product is not created.',
    access: 'admin',
    success: { status: 201, data: { products: ProductView } },
    failures: [
      failures.validation({ name: 'product name is required', images: 'image extension is not supported' }),
      failures.imageTooLarge(),
      failures.productCreation(),
    ],
    takes: 'form',
  })
  async create(@Form(creationPipe) form: ImageForm<CreateProductDto>) {
    return { products: new ProductView(await this.products.create(form)) };
  }

  @Put(':product_id')
  @UseInterceptors(FormInterceptor)
  @ApiParam(PRODUCT_ID_PARAM)
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
    @Param('product_id', ProductIdPipe) productId: number,
    @Form(updatePipe) form: ImageForm<UpdateProductDto>,
  ) {
    return { products: new ProductView(await this.products.update(productId, form)) };
  }

  @Delete(':product_id')
  @ApiParam(PRODUCT_ID_PARAM)
  @ApiEndpoint({
    summary: 'Delete a product and its images',
    access: 'admin',
    success: { status: 204 },
    failures: [failures.malformedRequest(), failures.notFound()],
    changesStateWithoutBody: true,
  })
  async delete(@Param('product_id', ProductIdPipe) productId: number): Promise<void> {
    await this.products.delete(productId);
  }
}
