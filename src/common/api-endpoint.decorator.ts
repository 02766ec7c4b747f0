import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiConsumes,
  ApiCookieAuth,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { type Failure, failures } from './errors.js';
import { failEnvelope, FailEnvelope } from './fail-envelope.filter.js';
import { Public } from './public.decorator.js';

/** What stands under `data` by name: views and lists of views. */
type DataShape = Readonly<Record<string, Type | readonly [Type]>>;

/** What an operation is, besides its path and its parameters. */
export interface EndpointOptions {
  readonly summary: string;
  readonly description?: string;
  /** Which cookie it needs (contract 4). An operation for administrators has `AdminGuard` besides. */
  readonly access: 'none' | 'user' | 'admin' | 'refresh cookie';
  readonly success: {
    readonly status: 200 | 201 | 204;
    /** Without it the answer has no body, or is a file. */
    readonly data?: Type | DataShape;
    /** Media types of an answer that is a file. */
    readonly files?: readonly string[];
    /** Names of the cookies that are set. */
    readonly cookies?: readonly string[];
  };
  /** The body that it reads; a body may be malformed or too large. */
  readonly takes?: 'json' | 'form';
  /** What it refuses, besides what every operation of its kind does. */
  readonly failures?: readonly Failure[];
  /** Whether it changes state, and so refuses foreign origins; what takes a body does. */
  readonly changesState?: boolean;
}

/**
 * Opens an operation that needs no access cookie, sets the status of its success, and documents it: summary, cookie,
 * answer, and every failure with its exact message.
 */
export function ApiEndpoint(options: EndpointOptions): MethodDecorator {
  const { summary, description = '', access, success, takes } = options;
  const changesState = options.changesState ?? takes !== undefined;
  const isPublic = access === 'none' || access === 'refresh cookie';
  // Answers that change something or set cookies are never cached.
  const isCacheable = !changesState && success.cookies === undefined;
  return applyDecorators(
    ...when(isPublic, Public(true)),
    HttpCode(success.status),
    ApiOperation({ summary, description }),
    ...when(access !== 'none', ApiCookieAuth(access === 'refresh cookie' ? 'refreshToken' : 'accessToken')),
    ...when(takes === 'form', ApiConsumes('multipart/form-data')),
    ApiExtraModels(FailEnvelope, ...viewsOf(success.data ?? {})),
    ApiResponse({
      status: success.status,
      description: 'Success',
      headers: { ...REQUEST_ID, ...(isCacheable && ETAG), ...cookieHeader(success.cookies) },
      ...successContent(success),
    }),
    ...when(isCacheable, UNCHANGED),
    ...failureResponses([
      ...when(!isPublic, failures.malformedAccessToken(), failures.missingAccessToken()),
      ...when(access === 'admin', failures.adminOnly()),
      ...when(changesState, failures.origin()),
      ...(options.failures ?? []),
      ...when(takes !== undefined, ...BODY_FAILURES),
      failures.unexpected(),
      failures.unavailable(),
    ]),
  );
}

function when<T>(condition: boolean, ...items: T[]): T[] {
  return condition ? items : [];
}

const BODY_FAILURES = [failures.malformedRequest(), failures.tooLarge(), failures.unsupportedEncoding()];
const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const REQUEST_ID = { 'X-Request-Id': text('On every answer, and on every log line of the request') };
const ETAG = { ETag: text('Of this state; for `If-None-Match`') };
const UNCHANGED = ApiResponse({
  status: 304,
  description: 'Unchanged since the answer whose ETag the request named; empty body',
  headers: { ...REQUEST_ID, ...ETAG },
});

function cookieHeader(cookies?: readonly string[]) {
  if (cookies === undefined) return {};
  const names = cookies.join(' and ');
  return { 'Set-Cookie': text(`${names}, each in a header of its own; HttpOnly, Secure, SameSite=None`) };
}

function viewsOf(data: Type | DataShape): Type[] {
  return typeof data === 'function' ? [data] : Object.values(data).flat();
}

function successContent({ data, files }: EndpointOptions['success']) {
  if (files !== undefined) {
    const schema = { type: 'string', format: 'binary' } as const;
    return { content: Object.fromEntries(files.map((mediaType) => [mediaType, { schema }])) };
  }
  if (data === undefined) return {};
  const schema = {
    required: ['status', 'data'],
    properties: { status: { type: 'string', enum: ['success'] }, data: dataSchema(data) },
  };
  return { content: { 'application/json': { schema } } };
}

function dataSchema(data: Type | DataShape) {
  if (typeof data === 'function') return refTo(data);
  const properties = Object.entries(data).map(([key, view]) => [
    key,
    view instanceof Array ? { type: 'array', items: refTo(view[0]) } : refTo(view),
  ]);
  return {
    type: 'object',
    required: Object.keys(data),
    properties: Object.fromEntries(properties) as Record<string, { $ref: string }>,
  };
}

function failureResponses(documented: readonly Failure[]): MethodDecorator[] {
  return [...new Set(documented.map(({ code }) => code))].map((status) => {
    const ofStatus = documented.filter(({ code }) => code === status);
    const messages = [...new Set(ofStatus.map(({ message }) => message))];
    const errors = {
      properties: {
        code: { type: 'integer', enum: [status] },
        message: { type: 'string', enum: messages },
      },
    };
    return ApiResponse({
      status,
      description: messages.join('; '),
      headers: REQUEST_ID,
      content: {
        'application/json': {
          schema: { allOf: [refTo(FailEnvelope), { properties: { errors } }] },
          examples: Object.fromEntries(
            ofStatus.map((failure) => [failure.message, { value: failEnvelope(failure) }]),
          ),
        },
      },
    });
  });
}

function refTo(view: Type): { $ref: string } {
  return { $ref: getSchemaPath(view) };
}
