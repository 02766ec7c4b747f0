import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HttpAdapter } from '../common/http-adapter.js';
import { PaymentsService } from './payments.service.js';

const PATH = '/api/products/payments';

/** POST /api/products/payments on the fast lane: what is first heard of an order. The pipeline does all else. */
@Injectable()
export class PaymentsLane implements OnApplicationBootstrap {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly payments: PaymentsService,
  ) {}

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.adapterHost;
    if (!(httpAdapter instanceof HttpAdapter)) return;
    httpAdapter.fastLane.openJson({
      path: PATH,
      receive: (body, text) => this.payments.receiveFirst(body, text),
    });
  }
}
