import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { json, type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { failures } from './errors.js';
import { inviteBody } from './expect-continue.js';
import { isWithinDepth } from './json-depth.js';

/** A request whose JSON body was read. */
export interface JsonRequest extends Request {
  /** The body as it arrived, for routes that keep what they were sent. */
  rawBody?: string;
}

/** Largest JSON body in bytes (decisions.md, Answers). */
export const JSON_BODY_LIMIT = 100 * 1024;

const parseJson: RequestHandler = json({
  limit: JSON_BODY_LIMIT,
  verify: (request: JsonRequest, _response, buffer, charset) => {
    // RFC 8259, section 8.1; the parser would also take UTF-16 and UTF-32.
    if (charset !== 'utf-8') throw failures.unsupportedEncoding();
    request.rawBody = buffer.toString('utf8');
  },
});

/**
 * Reads a JSON body. As an interceptor it runs after the guards, so that a caller who may not use a route is
 * told so before a byte of the body is read (decisions.md, Accounts); Nest's own parser would run first.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    // A body that nobody takes stays unread, whatever it is.
    if (!takesBody(context)) return next.handle();
    const http = context.switchToHttp();
    const request = http.getRequest<JsonRequest>();
    const response = http.getResponse<Response>();
    // Whoever reads another kind of body invites it.
    if (request.is('json') === 'json') inviteBody(request, response);
    await readJson(request, response);
    if (!isWithinDepth(request.body)) throw failures.malformedRequest();
    return next.handle();
  }
}

/** By handler. */
const bodyTakers = new WeakMap<object, boolean>();

function takesBody(context: ExecutionContext): boolean {
  const handler = context.getHandler();
  let takes = bodyTakers.get(handler);
  if (takes === undefined) {
    takes = declaresBody(context);
    bodyTakers.set(handler, takes);
  }
  return takes;
}

function declaresBody(context: ExecutionContext): boolean {
  const taken: unknown = Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  );
  return Object.keys(taken ?? {}).some((key) => key.startsWith(`${RouteParamtypes.BODY}:`));
}

function readJson(request: JsonRequest, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    parseJson(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else
        reject(
          error instanceof Error ? error : new Error('the JSON body could not be read', { cause: error }),
        );
    });
  });
}
