import { Controller, Get, HttpCode, Inject, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../common/public.decorator.js';
import { failures } from '../../common/errors.js';
import { corsOriginMatcher } from '../../common/origin-check.js';
import { Env } from '../../config/env.js';
import { PaymentGateway } from '../payment-gateway.js';
import { ACTIONS } from './simulator-actions.js';
import { CONTENT_SECURITY_POLICY, pageOf, viewOf } from './simulator-page.js';
import type { SimulatorGateway } from './simulator.gateway.js';

const TOKEN = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

/** The payment page: HTML for a browser, the same facts as JSON for a script that accepts `application/json`. */
@ApiExcludeController()
@Public(true)
@Controller('simulator')
export class SimulatorController {
  constructor(
    @Inject(PaymentGateway) private readonly simulator: SimulatorGateway,
    private readonly env: Env,
  ) {}

  @Get(':token')
  async show(
    @Param('token', TOKEN) token: string,
    @Req() request: Request,
    @Res() response: Response,
    refused: string | null = null,
  ): Promise<void> {
    const transaction = await this.simulator.find({ token });
    if (transaction === null) throw failures.notFound();
    // Besides what is set already: the answer also varies by Origin.
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      response.json({ status: 'success', data: viewOf(transaction) });
      return;
    }
    response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    // With helmet's `no-referrer` a browser posts the forms with `Origin: null`, which the origin check refuses.
    response.set('Referrer-Policy', 'same-origin');
    response.status(refused === null ? 200 : 409).type('html');
    response.send(pageOf(transaction, { path: this.#pathOf(token), shop: this.#shopOf(request), refused }));
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
    if (isDone && !wantsJson(request)) response.redirect(303, this.#pathOf(token));
    else await this.show(token, request, response, isDone ? null : name);
  }

  /** Without the origin: a phone may reach the page under another one than PUBLIC_URL. */
  #pathOf(token: string): string {
    return new URL(`${this.env.publicUrl}/api/simulator/${token}`).pathname;
  }

  /** The origin of the page that led here, if it is a storefront that may call the service. */
  #shopOf({ headers: { referer = '', host } }: Request): string | null {
    if (!URL.canParse(referer) || new URL(referer).host === host) return null;
    const { origin } = new URL(referer);
    return corsOriginMatcher(this.env)(origin) ? origin : null;
  }
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
