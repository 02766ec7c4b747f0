import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { failures } from '../../common/errors.js';
import { Public } from '../../common/public.decorator.js';
import type { SuccessEnvelope } from '../../common/success-envelope.interceptor.js';
import { isActionName } from './actions.js';
import { SimulatorPage, type PaymentView } from './simulator-page.js';
import { SimulatorService } from './simulator.service.js';

/** The payment page: HTML for a browser, the same facts as JSON for a script that accepts `application/json`. */
@ApiExcludeController()
@Public(true)
@Controller('simulator')
export class SimulatorController {
  constructor(
    private readonly simulator: SimulatorService,
    private readonly page: SimulatorPage,
  ) {}

  @Get(':token')
  async show(
    @Param('token') token: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.#answer(token, request, response);
  }

  @Post(':token/:action')
  @HttpCode(200)
  async act(
    @Param('token') token: string,
    @Param('action') action: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isActionName(action)) throw failures.notFound();
    const isDone = await this.simulator.act(token, action);
    if (!isDone && wantsJson(request)) throw failures.simulatorAction();
    if (isDone && !wantsJson(request))
      response.redirect(303, this.page.path(token) + this.page.shopQuery(shopOf(request)));
    else await this.#answer(token, request, response, isDone ? undefined : action);
  }

  /** @param refused an action that the payment's state does not allow */
  async #answer(token: string, request: Request, response: Response, refused?: string): Promise<void> {
    const { transaction, notifications } = await this.simulator.page(token);
    // Besides what is set already: the answer also varies by Origin.
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      const data = this.page.view(transaction, notifications);
      response.json({ status: 'success', data } satisfies SuccessEnvelope<PaymentView>);
      return;
    }
    response
      .status(refused === undefined ? 200 : 409)
      .set({
        'Content-Security-Policy': this.page.contentSecurityPolicy,
        // With helmet's `no-referrer` a browser posts the forms with `Origin: null`, which the origin check refuses.
        'Referrer-Policy': 'same-origin',
      })
      .type('html')
      .send(this.page.html(transaction, notifications, shopOf(request), refused));
  }
}

/** Where the customer came from: the page that led here, or what a form of this page kept of it. */
function shopOf({ query, headers }: Request): unknown {
  return query.shop ?? headers.referer;
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
