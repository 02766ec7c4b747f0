import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { AdmissionService } from '../auth/admission.service.js';
import { ProductPages, sendPage } from './product-pages.js';
import { LIST_ACCESS } from './products.controller.js';

/** URL without a query, or with only `last_id` as a number of at most 9 digits, which fits the type `integer`. */
const PLAIN_URL = /^[^?]*(?:\?last_id=(\d{1,9}))?$/;

/**
 * Shortcut for GET /api/products: sends the page before Nest's guards, interceptors and pipes run, because they take
 * longer than the page itself. A test fails if the route gets a guard, interceptor or pipe that this shortcut would skip.
 * `AdmissionService` admits requests whose token was verified before, and anonymous requests for a public catalog. Other
 * requests go on to `JwtCookieGuard` and the controller. So do requests whose URL is not plain or whose page is empty.
 */
@Injectable()
export class ProductListMiddleware implements NestMiddleware {
  constructor(
    private readonly admission: AdmissionService,
    private readonly pages: ProductPages,
  ) {}

  async use(request: Request, response: Response, next: NextFunction): Promise<void> {
    const match = PLAIN_URL.exec(request.originalUrl);
    const isAdmitted = match !== null && this.admission.admit(LIST_ACCESS, request, response);
    const page = isAdmitted ? await this.pages.find(Number(match[1] ?? 0)) : null;
    if (page === null) next();
    else sendPage(response, page);
  }
}
