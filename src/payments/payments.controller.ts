import { Body, Controller, Post, type RawBodyRequest, Req } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { PaymentNotificationDto } from './payments.dto.js';
import { PaymentsService } from './payments.service.js';

@ApiTags('Payments')
@Controller('products/payments')
export class PaymentsController {
  constructor(private readonly payments: PaymentsService) {}

  @Post()
  @ApiBody({ type: PaymentNotificationDto })
  @ApiEndpoint({
    summary: 'Payment notification, called by the payment gateway',
    description: 'An empty 200 acknowledges it; a redelivery is acknowledged and changes nothing.',
    access: 'none',
    success: { status: 200 },
    failures: [
      failures.validation({ transaction_status: 'transaction_status is invalid' }),
      failures.signature(),
      failures.notFound(),
    ],
    takes: 'json',
  })
  async receive(@Body() body: unknown, @Req() request: RawBodyRequest<Request>): Promise<void> {
    const payload = request.rawBody?.toString() ?? '';
    // JSON in UTF-8 has no such byte; the parser also takes UTF-16.
    if (payload.includes('\0')) throw failures.unsupportedEncoding();
    await this.payments.receive(body, payload);
  }
}
