import { Controller, Get, Inject, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Access } from '../../common/access.decorator.js';
import { failures } from '../../common/errors.js';
import { isCorsOrigin } from '../../common/origin-check.js';
import { formatRupiah } from '../../common/rupiah.js';
import { toSuccessEnvelope } from '../../common/success-envelope.interceptor.js';
import { Env } from '../../config/env.js';
import { formatGatewayTime } from '../midtrans.messages.js';
import { PaymentGateway } from '../payment-gateway.js';
import { ACTIONS, isAllowed } from './simulator-actions.js';
import type { SimulatorTransaction } from './simulator-transaction.entity.js';
import type { SimulatorGateway } from './simulator.gateway.js';

const TokenPipe = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

const template = readFileSync(join(import.meta.dirname, 'page.hbs'), 'utf8');
const [, style = ''] = /<style>(.*)<\/style>/s.exec(template) ?? [];
const styleHash = createHash('sha256').update(style).digest('base64');
/**
 * Allows the style and the forms of the page. Helmet's default policy contains `upgrade-insecure-requests`, with which
 * browsers would submit the forms over HTTPS even to a service that only speaks HTTP.
 */
const CONTENT_SECURITY_POLICY =
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; ` +
  "base-uri 'none'; frame-ancestors 'none'";

const handlebars = Handlebars.create();
handlebars.registerHelper({
  rupiah: formatRupiah,
  time: (time: string) => `${formatGatewayTime(new Date(time))} WIB`,
  label: (action: string) => ACTIONS.get(action)?.label,
});
const renderPage = handlebars.compile(template, { strict: true });

/** Payment page: HTML for browsers, JSON for clients that prefer `application/json`. */
@ApiExcludeController()
@Access('public')
@Controller('simulator/:token')
export class SimulatorController {
  constructor(
    @Inject(PaymentGateway) private readonly simulator: SimulatorGateway,
    private readonly env: Env,
  ) {}

  @Get()
  async show(
    @Param('token', TokenPipe) token: string,
    @Req() request: Request,
    @Res() response: Response,
    rejectedAction: string | null = null,
  ): Promise<void> {
    const transaction = await this.simulator.find({ token });
    if (transaction === null) throw failures.notFound();
    const view = toView(transaction);
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      if (rejectedAction !== null) throw failures.simulatorAction();
      response.status(200).json(toSuccessEnvelope(view));
      return;
    }
    response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    // With helmet's `no-referrer`, browsers send `Origin: null` with the forms, which the origin check rejects.
    response.set('Referrer-Policy', 'same-origin');
    response.status(rejectedAction === null ? 200 : 409).type('html');
    const shop = this.#findShop(request);
    const page = { ...view, path: this.#pathTo(token), query: toQuery(shop), shop, rejectedAction };
    response.send(renderPage(page));
  }

  @Post(':action')
  async act(
    @Param('token', TokenPipe) token: string,
    @Param('action') action: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!ACTIONS.has(action)) throw failures.notFound();
    const isPerformed = await this.simulator.act(token, action);
    if (isPerformed && !wantsJson(request))
      response.redirect(303, this.#pathTo(token) + toQuery(this.#findShop(request)));
    else await this.show(token, request, response, isPerformed ? null : action);
  }

  /** Returns a path without an origin, because a phone may open the page on another origin than PUBLIC_URL. */
  #pathTo(token: string): string {
    return new URL(`${this.env.publicUrl}/api/simulator/${token}`).pathname;
  }

  /**
   * Returns the origin of the storefront that linked to this page, if that origin may call the service. The forms repeat
   * the origin as `shop`, because this page is the referrer after a button is pressed.
   */
  #findShop({ headers: { referer = '', host }, query: { shop } }: Request): string | null {
    const referrer = typeof shop === 'string' ? shop : referer;
    if (!URL.canParse(referrer) || new URL(referrer).host === host) return null;
    const { origin } = new URL(referrer);
    return isCorsOrigin(this.env, origin) ? origin : null;
  }
}

function toView(transaction: SimulatorTransaction) {
  return {
    // Midtrans calls the id of a payment attempt `order_id`.
    order_id: transaction.attemptId,
    gross_amount: transaction.grossAmount,
    items: transaction.items,
    customer: transaction.customer,
    transaction_status: transaction.status,
    refunded_amount: transaction.refundedAmount,
    payment: transaction.payment,
    expires_at: transaction.expiresAt,
    actions: [...ACTIONS].filter(([, action]) => isAllowed(action, transaction)).map(([name]) => name),
    notifications: transaction.notifications,
  };
}

function toQuery(shop: string | null): string {
  return shop === null ? '' : `?shop=${encodeURIComponent(shop)}`;
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
