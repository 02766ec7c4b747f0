import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { failures } from '../common/errors.js';
import { listPickupWindows } from './pickup-windows.js';
import { ShopDto, ShopView } from './shop.dto.js';
import type { Shop } from './shop.entity.js';
import { ShopService } from './shop.service.js';

@ApiTags('Shop')
@Controller()
export class ShopController {
  constructor(private readonly shop: ShopService) {}

  @Get('shop')
  @ApiEndpoint({
    summary: 'Return the opening hours and the pickup windows',
    access: 'public',
    success: { status: 200, data: { shop: ShopView } },
  })
  async show(): Promise<{ shop: ShopView }> {
    return { shop: toView(await this.shop.get()) };
  }

  @Put('admin/shop')
  @ApiEndpoint({
    summary: 'Replace the opening hours and the pickup rules',
    description: 'Existing orders keep their pickup time.',
    access: 'admin',
    success: { status: 200, data: { shop: ShopView } },
    failures: [failures.validation({ days_ahead: 'days_ahead should be a whole number from 1 to 90' })],
    takes: 'json',
  })
  async replace(@Body() settings: ShopDto): Promise<{ shop: ShopView }> {
    return { shop: toView(await this.shop.replace(settings)) };
  }
}

function toView(shop: Readonly<Shop>): ShopView {
  const { timeZone: time_zone, hours, closed, leadMinutes: lead_minutes, daysAhead: days_ahead } = shop;
  const pickup = listPickupWindows(shop, new Date());
  return { time_zone, hours, closed, lead_minutes, days_ahead, pickup };
}
