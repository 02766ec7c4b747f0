import { Controller, Get, HttpCode, Inject, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { failures } from '../../common/errors.js';
import { Public } from '../../common/public.decorator.js';
import { PaymentGateway } from '../payment-gateway.js';
import { ACTIONS } from './simulator-actions.js';
import { SimulatorPage } from './simulator-page.js';
import type { SimulatorGateway } from './simulator.gateway.js';

const TOKEN = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

/** The payment page: HTML for a browser, the same facts as JSON for a script that accepts `application/json`. */
@ApiExcludeController()
@Public(true)
@Controller('simulator')
export class SimulatorController {
  constructor(
    @Inject(PaymentGateway) private readonly simulator: SimulatorGateway,
    private readonly page: SimulatorPage,
  ) {}

  @Get(':token')
  async show(
    @Param('token', TOKEN) token: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.#answer(token, request, response);
  }

  @Post(':token/:action')
  @HttpCode(200)
  async act(
    @Param('token', TOKEN) token: string,
    @Param('action') name: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const action = ACTIONS.get(name);
    if (action === undefined || (await this.simulator.find({ token })) === null) throw failures.notFound();
    const isDone = await this.simulator.act(token, action);
    if (!isDone && wantsJson(request)) throw failures.simulatorAction();
    if (isDone && !wantsJson(request)) response.redirect(303, this.page.address(token, cameFrom(request)));
    else await this.#answer(token, request, response, isDone ? undefined : name);
  }

  /** @param refused an action that the payment's state does not allow */
  async #answer(token: string, request: Request, response: Response, refused?: string): Promise<void> {
    const transaction = await this.simulator.find({ token });
    if (transaction === null) throw failures.notFound();
    // Besides what is set already: the answer also varies by Origin.
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      response.json({ status: 'success', data: this.page.view(transaction) });
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
      .send(this.page.html(transaction, cameFrom(request), refused));
  }
}

/** The page that led here, or what a form of this page kept of it. */
function cameFrom({ query, headers }: Request): unknown {
  return query.shop ?? headers.referer;
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
