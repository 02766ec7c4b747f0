import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiConsumes,
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

interface EndpointOptions {
  readonly summary: string;
  readonly description?: string;
  readonly access: AccessLevel;
  readonly success: {
    readonly status: 200 | 201 | 204;
    /** Class of `data`, or the class of each field of `data` (`[View]` for a list). Absent if the response is a file or empty. */
    readonly data?: Type | Readonly<Record<string, Type | readonly [listed: Type]>>;
    /** Possible media types, if the response is a file. */
    readonly mediaTypes?: readonly string[];
    readonly cookies?: readonly string[];
  };
  /** True if a public operation uses the access cookie of a request that has one. */
  readonly usesAccessCookie?: true;
  readonly takes?: 'json' | 'form';
  /** Failures in addition to those that `ApiEndpoint` derives from the other options. */
  readonly failures?: readonly Failure[];
  /** True if the operation changes something although it takes no body. An operation with a body always changes something. */
  readonly changesStateWithoutBody?: true;
}

/** Declares the access and success status of an operation. Documents its responses, with the exact messages of failures. */
export function ApiEndpoint(options: EndpointOptions): MethodDecorator {
  const { summary, description = '', access, success, takes } = options;
  const { data = {}, cookies } = success;
  const changesState = options.changesStateWithoutBody ?? takes !== undefined;
  const isCacheable = !changesState && cookies === undefined;
  const security = listSecurity(options);
  const needsAccessCookie = access !== 'public' && access !== 'refresh cookie';
  return applyDecorators(
    Access(access),
    HttpCode(success.status),
    // OpenAPI itself cannot express that an operation is for administrators.
    ApiExtension('x-access', access),
    ApiOperation({ summary, description, security }),
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
      ...when(needsAccessCookie, failures.malformedAccessToken(), failures.missingAccessToken()),
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
    'ETag of the last response. `fetch` adds `Cache-Control: no-cache` to a request with this header, and then never ' +
    'gets a 304: send `Cache-Control: max-age=0` as well.',
});
const UNCHANGED = ApiResponse({
  status: 304,
  description: 'Not modified since the response with the ETag in `If-None-Match`; empty body',
  headers: { ...REQUEST_ID, ...ETAG },
});

/** Lists the cookies with which an operation can be called; one is enough. `{}` allows a call without a cookie. */
function listSecurity({ access, usesAccessCookie }: EndpointOptions): Record<string, string[]>[] {
  if (access === 'refresh cookie') return [{ refreshToken: [] }];
  if (access !== 'public') return [{ accessToken: [] }];
  return usesAccessCookie === true ? [{ accessToken: [] }, {}] : [];
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
  return [...new Set(documented.map(({ code }) => code))].map((status) => {
    const ofStatus = documented.filter(({ code }) => code === status);
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
