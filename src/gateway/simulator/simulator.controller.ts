import { Controller, Get, Inject, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import Handlebars from 'handlebars';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Access } from '../../common/access.js';
import { failures } from '../../common/errors/failures.js';
import { isCorsOrigin } from '../../common/http/origin-check.js';
import { formatRupiah } from '../../common/rupiah.js';
import { toSuccessEnvelope } from '../../common/http/success-envelope.interceptor.js';
import { Env } from '../../config/env.js';
import { formatGatewayTime } from '../midtrans.messages.js';
import { PaymentGateway } from '../payment-gateway.js';
import { sumRefunds } from './simulated-transaction.js';
import { findAction, listActions } from './simulator-actions.js';
import type { SimulatorPage } from './simulator-page.entity.js';
import type { SimulatorGateway } from './simulator.gateway.js';

const tokenPipe = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

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
  label: (action: string) => findAction(action)?.label,
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
    @Param('token', tokenPipe) token: string,
    @Req() request: Request,
    @Res() response: Response,
    rejectedAction: string | null = null,
  ): Promise<void> {
    const found = await this.simulator.find({ token });
    if (found === null) throw failures.notFound();
    const view = toView(found);
    response.vary('Accept').set('Cache-Control', 'no-store');
    if (wantsJson(request)) {
      if (rejectedAction !== null) throw failures.simulatorActionNotPossible();
      response.status(200).json(toSuccessEnvelope(view));
      return;
    }
    response.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    // With helmet's `no-referrer`, browsers send `Origin: null` with the forms, which the origin check rejects.
    response.set('Referrer-Policy', 'same-origin');
    response.status(rejectedAction === null ? 200 : 409).type('html');
    const shop = this.#findShop(request);
    const page = { path: this.#pathTo(token), query: toQuery(shop), shop, rejectedAction };
    response.send(renderPage({ ...view, ...page, earlier: view.transactions.slice(0, -1) }));
  }

  /** Changes the latest transaction or starts one. The second path is for an earlier transaction. */
  @Post([':action', 'transactions/:transactionId/:action'])
  async act(
    @Param('token', tokenPipe) token: string,
    @Param('action') action: string,
    @Req() request: Request,
    @Res() response: Response,
    @Param('transactionId') transactionId?: string,
  ): Promise<void> {
    if (findAction(action) === undefined) throw failures.notFound();
    const isPerformed = await this.simulator.act(token, action, transactionId);
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

function toView(page: SimulatorPage) {
  const transactions = page.transactions.map(({ status, payment }) => ({
    ...payment,
    transaction_status: status,
    refunded_amount: sumRefunds(payment),
    actions: listActions(page, payment.transaction_id),
  }));
  return {
    // Midtrans calls the id of a payment attempt `order_id`.
    order_id: page.attemptId,
    gross_amount: page.grossAmount,
    items: page.items,
    customer: page.customer,
    // These fields describe the latest transaction.
    transaction_status: page.status,
    refunded_amount: sumRefunds(page.payment),
    payment: page.payment,
    expires_at: page.expiresAt,
    actions: listActions(page),
    transactions,
    notifications: page.notifications,
  };
}

function toQuery(shop: string | null): string {
  return shop === null ? '' : `?shop=${encodeURIComponent(shop)}`;
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
