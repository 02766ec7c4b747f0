import { Controller, Get, Inject, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failures } from '../../common/errors.js';
import { corsOriginMatcher } from '../../common/origin-check.js';
import { Public } from '../../common/public.decorator.js';
import { rupiah } from '../../common/rupiah.js';
import { Env } from '../../config/env.js';
import { gatewayTime } from '../midtrans.messages.js';
import { PaymentGateway } from '../payment-gateway.js';
import { ACTIONS, isAllowed } from './simulator-actions.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';
import type { SimulatorGateway } from './simulator.gateway.js';

const TOKEN = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

const source = readFileSync(join(import.meta.dirname, 'page.hbs'), 'utf8');
const [, style = ''] = /<style>(.*)<\/style>/s.exec(source) ?? [];
const styleHash = createHash('sha256').update(style).digest('base64');
/** Lets in the page's own style and its forms; in place of helmet's, which would send forms to https. */
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; ` +
  "base-uri 'none'; frame-ancestors 'none'";

const handlebars = Handlebars.create();
handlebars.registerHelper({
  rupiah: (amount: number) => rupiah(amount),
  time: (time: string) => `${gatewayTime(new Date(time))} WIB`,
  label: (action: string) => ACTIONS.get(action)?.label,
});
const pageOf = handlebars.compile(source, { strict: true });

/** The payment page: HTML for a browser, the same facts as JSON for a script that accepts `application/json`. */
@ApiExcludeController()
@Public(true)
@Controller('simulator/:token')
export class SimulatorController {
  constructor(
    @Inject(PaymentGateway) private readonly simulator: SimulatorGateway,
    private readonly env: Env,
  ) {}

  @Get()
  async show(
    @Param('token', TOKEN) token: string,
    @Req() request: Request,
    @Res() response: Response,
    refused: string | null = null,
  ): Promise<void> {
    const transaction = await this.simulator.find({ token });
    if (transaction === null) throw failures.notFound();
    const data = viewOf(transaction);
    // Besides what is set already: the answer also varies by Origin.
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      if (refused !== null) throw failures.simulatorAction();
      response.status(200).json({ status: 'success', data });
      return;
    }
    response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    // With helmet's `no-referrer` a browser posts the forms with `Origin: null`, which the origin check refuses.
    response.set('Referrer-Policy', 'same-origin');
    response.status(refused === null ? 200 : 409).type('html');
    response.send(pageOf({ ...data, path: this.#pathOf(token), shop: this.#shopOf(request), refused }));
  }

  @Post(':action')
  async act(
    @Param('token', TOKEN) token: string,
    @Param('action') action: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!ACTIONS.has(action)) throw failures.notFound();
    const isDone = await this.simulator.act(token, action);
    if (isDone && !wantsJson(request)) response.redirect(303, this.#pathOf(token));
    else await this.show(token, request, response, isDone ? null : action);
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

function viewOf(transaction: SimulatorTransaction) {
  return {
    order_id: transaction.orderId,
    gross_amount: Number(transaction.grossAmount),
    items: transaction.items,
    customer: transaction.customer,
    transaction_status: transaction.status,
    payment: transaction.payment,
    expires_at: transaction.expiresAt,
    actions: [...ACTIONS].filter(([, action]) => isAllowed(action, transaction)).map(([name]) => name),
    notifications: transaction.notifications,
  };
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
