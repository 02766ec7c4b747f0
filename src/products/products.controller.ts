import {
  Controller,
  Delete,
  Get,
  Header,
  Headers,
  Param,
  Post,
  Put,
  Query,
  Res,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures, TOO_MANY_IMAGES } from '../common/errors/failures.js';
import { type Client, CurrentClient } from '../common/http/client.decorator.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { LAST_ID_NOT_A_NUMBER } from '../common/validation/query.decorators.js';
import { FormInterceptor } from '../images/form.interceptor.js';
import { type ImageForm, ImageFormBody } from '../images/image-form.decorator.js';
import { ProductPages } from './product-pages.js';
import {
  CreateProductDto,
  ListedProductView,
  toProductEtag,
  ProductListQuery,
  ProductPageMeta,
  ProductParams,
  ProductView,
  UpdateProductDto,
} from './products.dto.js';
import { ProductsService } from './products.service.js';

const UNSUPPORTED_EXTENSION = 'image extension is not supported';
const CREATION_MESSAGES = {
  failure: 'validation error',
  extension: UNSUPPORTED_EXTENSION,
  tooMany: TOO_MANY_IMAGES,
};
const UPDATE_MESSAGES = {
  failure: 'validation errors',
  extension: 'invalid file format, only .png or .jpg files are accepted',
};

@ApiTags('Products')
@Controller('products')
export class ProductsController {
  constructor(
    private readonly products: ProductsService,
    private readonly pages: ProductPages,
  ) {}

  @ApiEndpoint({
    summary: 'List products, or search for words in their names',
    description:
      'A page contains up to 50 products, ordered by id. If a page would be empty, the response is 404. If no name contains ' +
      'all words of `q`, the only page contains up to 50 products with similar names, most similar first. `images` is null ' +
      'for a product without images.',
    access: 'user',
    isCatalog: true,
    success: { status: 200, data: { meta: ProductPageMeta, products: [ListedProductView] } },
    failures: [failures.validation({ last_id: LAST_ID_NOT_A_NUMBER }), failures.notFound()],
  })
  @Get()
  // The pages are JSON text with the success envelope. Express would send a text as HTML.
  @Header('Content-Type', 'application/json; charset=utf-8')
  list(@Query() { last_id: lastId, q }: ProductListQuery, @CurrentClient() client: Client): Promise<string> {
    return q === undefined ? this.pages.get(lastId) : this.pages.search(lastId, q, client);
  }

  @ApiEndpoint({
    summary: 'Return a product',
    description: 'Only administrators get a product that is not available. For others it is a 404.',
    access: 'user',
    isCatalog: true,
    success: { status: 200, data: { products: ListedProductView } },
    failures: [failures.notFound()],
  })
  @Get(':product_id')
  async show(
    @Param() { product_id: id }: ProductParams,
    @Res({ passthrough: true }) response: Response,
    @CurrentUser() authUser?: AuthUser,
  ) {
    const product = await this.products.findFor(authUser, id);
    response.setHeader('ETag', toProductEtag(product));
    return { products: new ListedProductView(product) };
  }

  @UseInterceptors(FormInterceptor)
  @ApiBody({ type: CreateProductDto })
  @ApiEndpoint({
    summary: 'Create a product with up to 5 images',
    description: 'If one image cannot be stored, the product is not created.',
    access: 'admin',
    success: { status: 201, data: { products: ProductView } },
    failures: [
      failures.validation({ name: 'product name is required', images: UNSUPPORTED_EXTENSION }),
      failures.imageTooLarge(),
      failures.productNotCreated(),
    ],
    takes: 'form',
  })
  @Post()
  async create(@ImageFormBody(CreateProductDto, CREATION_MESSAGES) form: ImageForm<CreateProductDto>) {
    return { products: new ProductView(await this.products.create(form)) };
  }

  @UseInterceptors(FormInterceptor)
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
    etag: 'ifMatch',
  })
  @Put(':product_id')
  async update(
    @Param() { product_id: id }: ProductParams,
    @ImageFormBody(UpdateProductDto, UPDATE_MESSAGES) form: ImageForm<UpdateProductDto>,
    @Res({ passthrough: true }) response: Response,
    @Headers('If-Match') ifMatch?: string,
  ) {
    const product = await this.products.update(id, form, ifMatch);
    response.setHeader('ETag', toProductEtag(product));
    return { products: new ProductView(product) };
  }

  @ApiEndpoint({
    summary: 'Delete a product and its images',
    access: 'admin',
    success: { status: 204 },
    failures: [failures.notFound()],
  })
  @Delete(':product_id')
  async delete(@Param() { product_id: id }: ProductParams): Promise<void> {
    await this.products.delete(id);
  }
}
