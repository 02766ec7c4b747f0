import { applyDecorators, HttpCode, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ApiConsumes, ApiExtension, ApiExtraModels, ApiHeader, ApiOperation } from '@nestjs/swagger';
import { Access, type AccessLevel, CatalogRoute } from '../access.js';
import { FailEnvelope } from '../errors/fail-envelope.filter.js';
import { type Failure, failures } from '../errors/failures.js';
import {
  describeFailures,
  describeSuccess,
  NOT_MODIFIED,
  RESOURCE_ETAG,
  RESPONSE_ETAG,
  type SuccessOptions,
} from './endpoint-responses.js';

interface EndpointOptions {
  readonly summary: string;
  readonly description?: string;
  readonly access: AccessLevel;
  /** True if visitors may call the operation too while CATALOG_ACCESS is `public`. */
  readonly isCatalog?: true;
  /** Cookies with which the operation can be called; one is enough. `{}` allows a call without a cookie. */
  readonly security?: Record<string, string[]>[];
  readonly success: SuccessOptions;
  /** Format of the body of a request. Absent if the operation reads no body. */
  readonly takes?: 'json' | 'form';
  /**
   * ETag to document. By default, a response to a GET that sets no cookies has an ETag for `If-None-Match`. `ifMatch`: the handler
   * sets an ETag that is only for `If-Match`, so a GET gets no 304, and a change rejects the ETag of an old version. `none`: a
   * streamed response has no ETag.
   */
  readonly etag?: 'none' | 'ifMatch';
  /** Failures in addition to those that `ApiEndpoint` derives from the other options. */
  readonly failures?: readonly Failure[];
}

/**
 * Declares the access and success status of an operation. Documents its responses, with the exact messages of failures.
 * Must stand above `@Get()`, `@Post()` and so on, because decorators run from the lowest to the highest.
 */
export function ApiEndpoint(options: EndpointOptions): MethodDecorator {
  return (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    const path = String(Reflect.getMetadata(PATH_METADATA, handler));
    if (method === undefined)
      throw new Error(`@ApiEndpoint of ${target.constructor.name}.${String(key)} must stand above @Get()`);
    applyDecorators(...listDecorators(options, method, path))(target, key, descriptor);
  };
}

function listDecorators(options: EndpointOptions, method: RequestMethod, path: string) {
  const { summary, description = '', access, success, takes, etag } = options;
  const { security = access === 'public' ? [] : [{ accessToken: [] }] } = options;
  const { data = {}, cookies } = success;
  const changesState = method !== RequestMethod.GET;
  const isCacheable = !changesState && cookies === undefined && etag === undefined;
  const isForIfMatch = etag === 'ifMatch';
  const checksIfMatch = isForIfMatch && changesState;
  return [
    Access(access),
    ...when(options.isCatalog === true, CatalogRoute(true)),
    HttpCode(success.status),
    // OpenAPI itself cannot express that an operation is for administrators.
    ApiExtension('x-access', access),
    ApiOperation({ summary, description, security }),
    ...when(takes === 'form', ApiConsumes('multipart/form-data')),
    ApiExtraModels(FailEnvelope, ...(typeof data === 'function' ? [data] : Object.values(data).flat())),
    describeSuccess(success, { ...(isCacheable && RESPONSE_ETAG), ...(isForIfMatch && RESOURCE_ETAG) }),
    ...when(isCacheable, IF_NONE_MATCH, NOT_MODIFIED),
    ...when(checksIfMatch, IF_MATCH),
    ...describeFailures([
      ...when(access !== 'public', failures.malformedAccessToken(), failures.missingAccessToken()),
      ...when(access === 'admin', failures.adminOnly()),
      ...when(changesState, failures.originNotAllowed()),
      ...when(checksIfMatch, failures.changedMeanwhile()),
      // Express cannot decode a parameter such as `%ZZ`. `BODY_FAILURES` contains this failure too.
      ...when(path.includes(':') && !changesState, failures.malformedRequest()),
      ...(options.failures ?? []),
      // The body parsers also read a body that the operation ignores.
      ...when(changesState, ...BODY_FAILURES),
      failures.headersTooLarge(),
      failures.unexpected(),
      failures.unavailable(),
    ]),
  ];
}

function when<T>(condition: boolean, ...items: T[]): T[] {
  return condition ? items : [];
}

const IF_NONE_MATCH = optionalHeader(
  'If-None-Match',
  'ETag of the last response. `fetch` adds `Cache-Control: no-cache` to a request with this header, and then never ' +
    'gets a 304: send `Cache-Control: max-age=0` as well.',
);
const IF_MATCH = optionalHeader(
  'If-Match',
  'ETag of the version to change, from the last GET or PUT of this resource by an administrator. If the resource has ' +
    'changed since, the request changes nothing and gets 412.',
);

function optionalHeader(name: string, description: string): MethodDecorator {
  return ApiHeader({ name, required: false, description });
}

const BODY_FAILURES = [
  failures.malformedRequest(),
  failures.requestTimeout(),
  failures.tooLarge(),
  failures.unsupportedEncoding(),
];
