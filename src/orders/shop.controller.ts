import { Body, Controller, Get, Header, Headers, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { failures } from '../common/errors/failures.js';
import { preventNotModified } from '../common/http/if-match.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { AdminShopView, normalizeSettings, ShopDto, ShopView } from '../shop/shop.dto.js';
import type { Shop } from '../shop/shop.entity.js';
import { ShopService, toShopEtag } from '../shop/shop.service.js';
import { PickupsService } from './pickups.service.js';

/** Belongs to the orders, because the orders decide which slots are full. */
@ApiTags('Shop')
@Controller()
export class ShopController {
  constructor(
    private readonly shop: ShopService,
    private readonly pickups: PickupsService,
  ) {}

  @ApiEndpoint({
    summary: 'Return the shop: contact details, opening hours and pickup windows',
    access: 'public',
    success: { status: 200, data: { shop: ShopView } },
  })
  @Header('Cache-Control', 'private, no-cache')
  @Get('shop')
  async show(): Promise<{ shop: ShopView }> {
    return { shop: await this.#toView(await this.shop.get()) };
  }

  @ApiEndpoint({
    summary: 'Return the shop, with the paid orders of closed dates',
    description: 'The ETag stands for the settings alone. Send it as `If-Match` when you change them.',
    access: 'admin',
    success: { status: 200, data: { shop: AdminShopView } },
    etag: 'ifMatch',
  })
  @Get('admin/shop')
  async showToAdmin(@Res({ passthrough: true }) response: Response): Promise<{ shop: AdminShopView }> {
    const shop = await this.shop.get();
    const view = await this.#toView(shop);
    const paid_orders = await this.pickups.countPaidOnClosedDates(shop);
    response.setHeader('ETag', toShopEtag(shop));
    // The pickup windows can change while the settings stay.
    preventNotModified(response);
    return { shop: { ...view, paid_orders } };
  }

  @ApiEndpoint({
    summary: 'Replace the opening hours and the pickup rules, and change details of the shop',
    description:
      'Details that are absent do not change. Existing orders keep their pickup time. With `If-Match`, the settings are ' +
      'replaced only if nobody has changed them since.',
    access: 'admin',
    success: { status: 200, data: { shop: ShopView } },
    failures: [failures.validation({ days_ahead: 'days_ahead should be a whole number from 1 to 90' })],
    takes: 'json',
    etag: 'ifMatch',
  })
  @Put('admin/shop')
  async replace(
    @Body() settings: ShopDto,
    @Res({ passthrough: true }) response: Response,
    @Headers('If-Match') ifMatch?: string,
  ): Promise<{ shop: ShopView }> {
    const shop = await this.shop.replace(settings, ifMatch);
    response.setHeader('ETag', toShopEtag(shop));
    return { shop: await this.#toView(shop) };
  }

  async #toView(shop: Readonly<Shop>) {
    return { ...normalizeSettings(shop), pickup: await this.pickups.listWindows(shop) };
  }
}
