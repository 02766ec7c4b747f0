import { Body, Controller, Get, Header, Param, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { LAST_ID_NOT_A_NUMBER } from '../common/validation/query.decorators.js';
import {
  AdminProductsQuery,
  AdminProductView,
  AvailabilityDto,
  INVALID_UNTIL,
} from './admin-products.dto.js';
import { ProductPages } from './product-pages.js';
import { ProductPageMeta, ProductParams } from './products.dto.js';
import { ProductsService } from './products.service.js';

@ApiTags('Administration')
@Controller('admin/products')
export class AdminProductsController {
  constructor(
    private readonly products: ProductsService,
    private readonly pages: ProductPages,
  ) {}

  @ApiEndpoint({
    summary: 'List products with their availability, ordered by id',
    description:
      'Unlike GET /api/products, the list contains products that are not available. A page contains up to 50 products. ' +
      'If a page would be empty, the response is 404.',
    access: 'admin',
    success: { status: 200, data: { meta: ProductPageMeta, products: [AdminProductView] } },
    failures: [failures.validation({ last_id: LAST_ID_NOT_A_NUMBER }), failures.notFound()],
  })
  @Get()
  @Header('Content-Type', 'application/json; charset=utf-8')
  list(@Query() query: AdminProductsQuery): Promise<string> {
    return this.pages.getForAdmin(query);
  }

  @ApiEndpoint({
    summary: 'Hide a product from customers, or show it again',
    description:
      'A product that is not available is not listed and cannot be ordered. With `until`, it is available again from ' +
      'the start of that date in the time zone that the shop has at the time of the request.',
    access: 'admin',
    success: { status: 200, data: { product: AdminProductView } },
    failures: [failures.validation({ until: INVALID_UNTIL }), failures.notFound()],
    takes: 'json',
  })
  @Put(':product_id/availability')
  async change(@Param() { product_id }: ProductParams, @Body() availability: AvailabilityDto) {
    return {
      product: new AdminProductView(await this.products.changeAvailability(product_id, availability)),
    };
  }
}
