import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Header, HttpCode, Param, ParseUUIDPipe, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import Handlebars from 'handlebars';
import { Access } from '../../common/access.js';
import { failures } from '../../common/errors/failures.js';
import { isCorsOrigin } from '../../common/http/middleware.js';
import { findPreferredLanguage } from '../../common/languages.js';
import { formatRupiah } from '../../common/rupiah.js';
import { Env } from '../../config/env.js';
import { formatGatewayTime } from '../midtrans.messages.js';
import { PAGE_TEXTS } from './page-texts.js';
import { isActionName, listActions } from './simulator-actions.js';
import { readRefundedAmount, type SimulatorPage } from './simulator-page.entity.js';
import { SimulatorGateway } from './simulator.gateway.js';

const tokenPipe = new ParseUUIDPipe({ exceptionFactory: () => failures.notFound() });

const template = readFileSync(join(import.meta.dirname, 'page.hbs'), 'utf8');

const handlebars = Handlebars.create();
handlebars.registerHelper({
  rupiah: formatRupiah,
  time: (time: Date | string) => `${formatGatewayTime(new Date(time))} WIB`,
});
const renderTemplate = handlebars.compile(template, { strict: true });

/** Payment page: HTML in the browser's language, JSON for clients that prefer `application/json`. */
@ApiExcludeController()
@Access('public')
@Controller('simulator/:token')
export class SimulatorController {
  constructor(
    private readonly simulator: SimulatorGateway,
    private readonly env: Env,
  ) {}

  @Header('Cache-Control', 'no-store')
  @Get()
  async show(
    @Param('token', tokenPipe) token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const page = await this.#findPage(token);
    return wantsJson(request) ? toView(page) : this.#renderPage(page, request, response);
  }

  /** Performs an action on the latest transaction, or starts a transaction. The second path names the transaction. */
  @Header('Cache-Control', 'no-store')
  @HttpCode(200)
  @Post([':action', 'transactions/:transactionId/:action'])
  async act(
    @Param('token', tokenPipe) token: string,
    @Param('action') action: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Param('transactionId') transactionId?: string,
  ) {
    if (!isActionName(action)) throw failures.notFound();
    const isPerformed = await this.simulator.act(token, action, transactionId);
    const page = await this.#findPage(token);
    if (!isPerformed) throw failures.simulatorActionNotPossible();
    if (wantsJson(request)) return toView(page);
    response.status(303).location(this.#pathTo(token) + toQuery(this.#findShopOrigin(request)));
    return undefined;
  }

  async #findPage(token: string): Promise<SimulatorPage> {
    const page = await this.simulator.find({ token });
    if (page === null) throw failures.notFound();
    return page;
  }

  #renderPage(page: SimulatorPage, request: Request, response: Response): string {
    // With Nest's `no-referrer`, browsers send `Origin: null` with the forms, which the origin check rejects.
    response.set('Referrer-Policy', 'same-origin');
    const view = toView(page);
    const earlier = view.transactions.slice(0, -1);
    const shop = this.#findShopOrigin(request);
    const links = { path: this.#pathTo(page.token), query: toQuery(shop), shop };
    const language = findPreferredLanguage(request) ?? 'en';
    const texts = PAGE_TEXTS[language];
    return renderTemplate({ ...view, earlier, ...links, language, texts });
  }

  /** Returns a path without an origin, because a phone may open the page on another origin than PUBLIC_URL. */
  #pathTo(token: string): string {
    return new URL(`${this.env.publicUrl}/api/simulator/${token}`).pathname;
  }

  /**
   * Returns the origin of the storefront that linked to this page, if that origin may call the service. The forms repeat
   * the origin as `shop`, because this page is the referrer after a button is pressed.
   */
  #findShopOrigin({ headers, query }: Request): string | null {
    const url = URL.parse(typeof query.shop === 'string' ? query.shop : (headers.referer ?? ''));
    if (url === null || url.host === headers.host) return null;
    return isCorsOrigin(this.env, url.origin) ? url.origin : null;
  }
}

function toView(page: SimulatorPage) {
  return {
    // Midtrans calls the id of a payment attempt `order_id`.
    order_id: page.attemptId,
    gross_amount: page.grossAmount,
    items: page.items,
    customer: page.customer,
    // The status, the refunded amount and the payment are those of the latest transaction.
    transaction_status: page.status,
    refunded_amount: readRefundedAmount(page.payment),
    payment: page.payment,
    expires_at: page.expiresAt,
    actions: listActions(page),
    transactions: page.transactions.map((transaction) => ({
      ...transaction,
      refunded_amount: readRefundedAmount(transaction),
      actions: listActions(page, transaction.transaction_id),
    })),
    notifications: page.notifications,
  };
}

function toQuery(shop: string | null): string {
  return shop === null ? '' : `?shop=${encodeURIComponent(shop)}`;
}

function wantsJson(request: Request): boolean {
  return request.accepts(['html', 'json']) === 'json';
}
