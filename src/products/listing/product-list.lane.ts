import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import { RememberedTokens } from '../../auth/remembered-tokens.js';
import { ACCESS_COOKIE } from '../../auth/tokens.service.js';
import { HttpAdapter } from '../../common/http-adapter.js';
import type { ReadyAnswer } from '../../common/lane/fast-lane.js';
import { bodyOf, type ListPage, tagOf } from './list-page.js';
import { ProductListService } from './product-list.service.js';

const PATH = '/api/products';
/** The two forms of the route that clients use; others are the pipeline's. */
const ROUTE = /^\/api\/products(?:\?last_id=(\d{1,9}))?$/;
/** A JSON Web Token that no cookie parser reads otherwise than as it stands: nothing is quoted or encoded. */
const PLAIN_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * GET /api/products on the fast lane, for callers whose token was verified before. The pipeline does all else, the
 * verification of a token, every refusal and the end of the list included.
 */
@Injectable()
export class ProductListLane implements OnApplicationBootstrap {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly tokens: RememberedTokens,
    private readonly productList: ProductListService,
  ) {}

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.adapterHost;
    if (!(httpAdapter instanceof HttpAdapter)) return;
    httpAdapter.fastLane.openPage<number>({
      path: PATH,
      accept: (request) => this.#afterId(request),
      answer: (afterId) => {
        const page = this.productList.pageAtOnce(afterId);
        return page === null ? this.#read(afterId) : answerOf(page);
      },
    });
  }

  /** Where the page begins that a known caller asks for. */
  #afterId({ url = '', headers }: IncomingMessage): number | null {
    const route = ROUTE.exec(url);
    if (route === null) return null;
    const token = accessTokenOf(headers.cookie);
    return token === null || this.tokens.find(token) === null ? null : Number(route[1] ?? 0);
  }

  async #read(afterId: number): Promise<ReadyAnswer | null> {
    const page = await this.productList.page(afterId);
    return page === null ? null : answerOf(page);
  }
}

function answerOf(page: ListPage): ReadyAnswer {
  return { etag: tagOf(page), body: bodyOf(page) };
}

/** The access token of a Cookie header, if there is just one and no reader could take it for another. */
function accessTokenOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  const start = header.indexOf(ACCESS_COOKIE);
  if (start === -1 || header.includes(ACCESS_COOKIE, start + 1)) return null;
  if (start > 0 && !header.endsWith('; ', start)) return null;
  const begin = start + ACCESS_COOKIE.length + 1;
  if (header[begin - 1] !== '=') return null;
  const end = header.indexOf(';', begin);
  const token = header.slice(begin, end === -1 ? undefined : end);
  return PLAIN_TOKEN.test(token) ? token : null;
}
