import { applyDecorators, HttpCode, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import {
  ApiConsumes,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { Access, type AccessLevel, CatalogRoute } from '../access.js';
import { type Failure, failures } from '../errors/failures.js';
import { failEnvelope, FailEnvelope } from '../errors/fail-envelope.filter.js';

interface EndpointOptions {
  readonly summary: string;
  readonly description?: string;
  readonly access: AccessLevel;
  /** True if visitors may call the operation too while CATALOG_ACCESS is `public`. */
  readonly isCatalog?: true;
  /** Cookie that a public operation reads. The refresh cookie is required, the access cookie is optional. */
  readonly reads?: 'access cookie' | 'refresh cookie';
  readonly success: {
    readonly status: 200 | 201 | 204;
    /** Class of `data`, or the class of each field of `data` (`[View]` for a list). Absent if the response is a file or empty. */
    readonly data?: Type | Readonly<Record<string, Type | readonly [listed: Type]>>;
    /** Possible media types, if the response is a file. */
    readonly mediaTypes?: readonly string[];
    readonly cookies?: readonly string[];
  };
  readonly takes?: 'json' | 'form';
  /**
   * `none`: a streamed file. `resource`: the ETag, for `If-Match`, does not stand for the whole response, so the response is never
   * 304. Unset: the ETag of each response to a GET, unless it sets cookies.
   */
  readonly etag?: 'none' | 'resource';
  /** True if the operation rejects a change whose `If-Match` is not the ETag of the current version. */
  readonly acceptsIfMatch?: true;
  /** Failures in addition to those that `ApiEndpoint` derives from the other options. */
  readonly failures?: readonly Failure[];
}

/**
 * Declares the access and success status of an operation. Documents its responses, with the exact messages of failures.
 * Stands above `@Get()`, `@Post()` and so on, because decorators run from the lowest to the highest.
 */
export function ApiEndpoint(options: EndpointOptions): MethodDecorator {
  return (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const changesState = Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET;
    const hasPathParameter = String(Reflect.getMetadata(PATH_METADATA, handler)).includes(':');
    applyDecorators(...listDecorators(options, changesState, hasPathParameter))(target, key, descriptor);
  };
}

function listDecorators(options: EndpointOptions, changesState: boolean, hasPathParameter: boolean) {
  const { summary, description = '', access, success, takes, acceptsIfMatch = false } = options;
  const { data = {}, cookies } = success;
  const isCacheable = !changesState && cookies === undefined && options.etag === undefined;
  const security = listSecurity(options);
  return [
    Access(access),
    ...when(options.isCatalog === true, CatalogRoute(true)),
    HttpCode(success.status),
    // OpenAPI itself cannot express that an operation is for administrators.
    ApiExtension('x-access', access),
    ApiOperation({ summary, description, security }),
    ...when(takes === 'form', ApiConsumes('multipart/form-data')),
    ApiExtraModels(FailEnvelope, ...(typeof data === 'function' ? [data] : Object.values(data).flat())),
    ApiResponse({
      status: success.status,
      description: 'Success',
      headers: {
        ...REQUEST_ID,
        ...((isCacheable || acceptsIfMatch || options.etag === 'resource') && ETAG),
        ...(cookies && describeCookies(cookies)),
      },
      ...describeContent(success),
    }),
    ...when(isCacheable, IF_NONE_MATCH, UNCHANGED),
    ...when(acceptsIfMatch, IF_MATCH),
    ...describeFailures([
      ...when(access !== 'public', failures.malformedAccessToken(), failures.missingAccessToken()),
      ...when(access === 'admin', failures.adminOnly()),
      ...when(changesState, failures.originNotAllowed()),
      ...when(acceptsIfMatch, failures.changedMeanwhile()),
      // Express cannot decode a parameter such as `%ZZ`. With a body, `BODY_FAILURES` contains this failure.
      ...when(hasPathParameter && takes === undefined, failures.malformedRequest()),
      ...(options.failures ?? []),
      ...when(takes !== undefined, ...BODY_FAILURES),
      failures.headersTooLarge(),
      failures.unexpected(),
      failures.unavailable(),
    ]),
  ];
}

function when<T>(condition: boolean, ...items: T[]): T[] {
  return condition ? items : [];
}

const BODY_FAILURES = [
  failures.malformedRequest(),
  failures.requestTimeout(),
  failures.tooLarge(),
  failures.unsupportedEncoding(),
];
const text = (description: string) => ({ description, schema: { type: 'string' as const } });
const REQUEST_ID = { 'X-Request-Id': text('In every response and in every log line of the request') };
const ETAG = { ETag: text('Version of the response, for `If-None-Match`') };
const IF_NONE_MATCH = ApiHeader({
  name: 'If-None-Match',
  required: false,
  description:
    'ETag of the last response. `fetch` adds `Cache-Control: no-cache` to a request with this header, and then never ' +
    'gets a 304: send `Cache-Control: max-age=0` as well.',
});
const IF_MATCH = ApiHeader({
  name: 'If-Match',
  required: false,
  description:
    'ETag of the last response. If the resource has changed since, the request changes nothing and gets 412.',
});
const UNCHANGED = ApiResponse({
  status: 304,
  description: 'Not modified since the response with the ETag in `If-None-Match`; empty body',
  headers: { ...REQUEST_ID, ...ETAG },
});

/** Lists the cookies with which an operation can be called; one is enough. `{}` allows a call without a cookie. */
function listSecurity({ access, reads }: EndpointOptions): Record<string, string[]>[] {
  if (access !== 'public') return [{ accessToken: [] }];
  if (reads === 'refresh cookie') return [{ refreshToken: [] }];
  return reads === 'access cookie' ? [{ accessToken: [] }, {}] : [];
}

function describeCookies(cookies: readonly string[]) {
  const names = cookies.join(' and ');
  return { 'Set-Cookie': text(`${names}, each in its own header; HttpOnly, Secure, SameSite=None`) };
}

function describeContent({ data, mediaTypes = [] }: EndpointOptions['success']) {
  if (data !== undefined) {
    const properties = { status: { type: 'string', enum: ['success'] }, data: toSchema(data) };
    return { content: { 'application/json': { schema: { required: ['status', 'data'], properties } } } };
  }
  const contents = mediaTypes.map((mediaType) => {
    const isText = mediaType.startsWith('text/');
    return [mediaType, { schema: { type: 'string', ...(!isText && { format: 'binary' }) } }] as const;
  });
  return contents.length > 0 && { content: Object.fromEntries(contents) };
}

function toSchema(data: NonNullable<EndpointOptions['success']['data']> | readonly [Type]): object {
  if (typeof data === 'function') return { $ref: getSchemaPath(data) };
  if (data instanceof Array) return { type: 'array', items: toSchema(data[0]) };
  const names = Object.keys(data);
  return {
    type: 'object',
    // An empty `required` is not valid.
    ...(names.length > 0 && { required: names }),
    properties: Object.fromEntries(Object.entries(data).map(([name, view]) => [name, toSchema(view)])),
  };
}

function describeFailures(documented: readonly Failure[]): MethodDecorator[] {
  return [...new Set(documented.map(({ status }) => status))].map((status) => {
    const ofStatus = documented.filter((failure) => failure.status === status);
    const messages = [...new Set(ofStatus.map(({ message }) => message))];
    const errors = {
      properties: { code: { type: 'integer', enum: [status] }, message: { type: 'string', enum: messages } },
    };
    const examples = ofStatus.map((failure) => [failure.message, { value: failEnvelope(failure) }] as const);
    const schema = { allOf: [toSchema(FailEnvelope), { properties: { errors } }] };
    return ApiResponse({
      status,
      description: messages.join('; '),
      headers: REQUEST_ID,
      content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
    });
  });
}
