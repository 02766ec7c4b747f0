import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ACCESS_COOKIE, readCookie } from '../auth/cookies.js';
import { TokensService } from '../auth/tokens.service.js';
import { ProductPages, sendPage } from './product-pages.js';

/** The forms of the query that clients use. */
const PLAIN_URL = /^[^?]*(?:\?last_id=(\d{1,9}))?$/;

/**
 * Answers GET /api/products to callers whom `JwtCookieGuard` remembers, before Nest's guards, interceptors and pipes, which
 * cost more than the page. The controller answers the end of the list, any other query and all other callers.
 */
@Injectable()
export class ProductListMiddleware implements NestMiddleware {
  constructor(
    private readonly tokens: TokensService,
    private readonly pages: ProductPages,
  ) {}

  async use(request: Request, response: Response, next: NextFunction): Promise<void> {
    const url = PLAIN_URL.exec(request.originalUrl);
    const token = readCookie(request, ACCESS_COOKIE);
    if (url === null || token === null || this.tokens.verifiedCaller(token) === undefined) {
      next();
      return;
    }
    response.setHeader('Cache-Control', 'private, no-cache');
    const page = await this.pages.after(Number(url[1] ?? 0));
    if (page === null) next();
    else sendPage(response, page);
  }
}
