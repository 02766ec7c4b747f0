import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiConsumes,
  ApiCookieAuth,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, type AccessLevel } from './access.decorator.js';
import { type Failure, failures } from './errors.js';
import { failEnvelope, FailEnvelope } from './fail-envelope.filter.js';

/** Views and lists of views under `data`, by name. */
type DataShape = Readonly<Record<string, Type | readonly [Type]>>;

interface EndpointOptions {
  readonly summary: string;
  readonly description?: string;
  readonly access: AccessLevel;
  readonly success: {
    readonly status: 200 | 201 | 204;
    /** Absent if the response has no body or is a file. */
    readonly data?: Type | DataShape;
    readonly files?: readonly string[];
    readonly cookies?: readonly string[];
  };
  /** True if an operation without access rules uses the access cookie of a request that has one. */
  readonly usesAccessCookie?: true;
  readonly takes?: 'json' | 'form';
  /** Failures in addition to those of every operation of this kind. */
  readonly failures?: readonly Failure[];
  /** True if foreign origins are rejected; the default for an operation with a body. */
  readonly changesState?: boolean;
}

/** Declares the access and the success status of an operation, and documents every response with its exact message. */
export function ApiEndpoint(options: EndpointOptions): MethodDecorator {
  const { summary, description = '', access, success, takes } = options;
  const changesState = options.changesState ?? takes !== undefined;
  const isPublic = access === 'none' || access === 'refresh cookie';
  const { data = {}, cookies } = success;
  const publicSecurity = options.usesAccessCookie === true ? [{ accessToken: [] }, {}] : [];
  const isCacheable = !changesState && cookies === undefined;
  return applyDecorators(
    Access(access),
    HttpCode(success.status),
    // OpenAPI itself cannot express that an operation is for administrators.
    ApiExtension('x-access', access),
    ApiOperation({ summary, description, ...(access === 'none' && { security: publicSecurity }) }),
    ...when(access !== 'none', ApiCookieAuth(access === 'refresh cookie' ? 'refreshToken' : 'accessToken')),
    ...when(takes === 'form', ApiConsumes('multipart/form-data')),
    ApiExtraModels(FailEnvelope, ...(typeof data === 'function' ? [data] : Object.values(data).flat())),
    ApiResponse({
      status: success.status,
      description: 'Success',
      headers: { ...REQUEST_ID, ...(isCacheable && ETAG), ...(cookies && describeCookies(cookies)) },
      ...describeContent(success),
    }),
    ...when(isCacheable, IF_NONE_MATCH, UNCHANGED),
    ...describeFailures([
      ...when(!isPublic, failures.malformedAccessToken(), failures.missingAccessToken()),
      ...when(access === 'admin', failures.adminOnly()),
      ...when(changesState, failures.origin()),
      ...(options.failures ?? []),
      ...when(takes !== undefined, ...BODY_FAILURES),
      ...when(takes === 'form', failures.requestTimeout()),
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
const REQUEST_ID = { 'X-Request-Id': text('In every response and in every log line of the request') };
const ETAG = { ETag: text('Version of the response, for `If-None-Match`') };
const IF_NONE_MATCH = ApiHeader({
  name: 'If-None-Match',
  required: false,
  description:
    'ETag of the last response. `fetch` adds `Cache-Control: no-cache` to a request with this header, which asks for the ' +
    'full response: send `Cache-Control: max-age=0` as well.',
});
const UNCHANGED = ApiResponse({
  status: 304,
  description: 'Not modified since the response with the ETag in `If-None-Match`; empty body',
  headers: { ...REQUEST_ID, ...ETAG },
});

function describeCookies(cookies: readonly string[]) {
  const names = cookies.join(' and ');
  return { 'Set-Cookie': text(`${names}, each in its own header; HttpOnly, Secure, SameSite=None`) };
}

function describeContent({ data, files }: EndpointOptions['success']) {
  if (files !== undefined) {
    const toSchema = (mediaType: string) =>
      mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
    return {
      content: Object.fromEntries(files.map((mediaType) => [mediaType, { schema: toSchema(mediaType) }])),
    };
  }
  if (data === undefined) return {};
  const schema = {
    required: ['status', 'data'],
    properties: { status: { type: 'string', enum: ['success'] }, data: toDataSchema(data) },
  };
  return { content: { 'application/json': { schema } } };
}

function toDataSchema(data: Type | DataShape) {
  if (typeof data === 'function') return toReference(data);
  const properties = Object.entries(data).map(([key, view]) => [
    key,
    view instanceof Array ? { type: 'array', items: toReference(view[0]) } : toReference(view),
  ]);
  return {
    type: 'object',
    // An empty `required` is not valid.
    ...(properties.length > 0 && { required: Object.keys(data) }),
    properties: Object.fromEntries(properties) as Record<string, { $ref: string }>,
  };
}

function describeFailures(documented: readonly Failure[]): MethodDecorator[] {
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
          schema: { allOf: [toReference(FailEnvelope), { properties: { errors } }] },
          examples: Object.fromEntries(
            ofStatus.map((failure) => [failure.message, { value: failEnvelope(failure) }]),
          ),
        },
      },
    });
  });
}

function toReference(view: Type): { $ref: string } {
  return { $ref: getSchemaPath(view) };
}
