import type { Type } from '@nestjs/common';
import { ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { FailEnvelope, toFailEnvelope } from '../errors/fail-envelope.filter.js';
import type { Failure } from '../errors/failures.js';

export interface SuccessOptions {
  readonly status: 200 | 201 | 204;
  /** Class of `data`, or the class of each field of `data` (`[View]` for a list). Absent if the response is a file or empty. */
  readonly data?: Type | Readonly<Record<string, Type | readonly [listed: Type]>>;
  /** Possible media types, if the response is a file. */
  readonly mediaTypes?: readonly string[];
  readonly cookies?: readonly string[];
}

const describeHeader = (description: string) => ({ description, schema: { type: 'string' as const } });
const REQUEST_ID = {
  'X-Request-Id': describeHeader('In every response and in every log line of the request'),
};
export const RESPONSE_ETAG = { ETag: describeHeader('Version of the response, for `If-None-Match`') };
export const RESOURCE_ETAG = { ETag: describeHeader('Version of the resource, for `If-Match`') };

export const NOT_MODIFIED = ApiResponse({
  status: 304,
  description: 'Not modified since the response with the ETag in `If-None-Match`; empty body',
  headers: { ...REQUEST_ID, ...RESPONSE_ETAG },
});

export function describeSuccess(
  success: SuccessOptions,
  etagHeader: Partial<typeof RESPONSE_ETAG>,
): MethodDecorator {
  const { status, cookies } = success;
  return ApiResponse({
    status,
    description: 'Success',
    headers: { ...REQUEST_ID, ...etagHeader, ...(cookies && describeCookies(cookies)) },
    ...describeContent(success),
  });
}

function describeCookies(cookies: readonly string[]) {
  const names = cookies.join(' and ') + (cookies.length > 1 ? ', each in its own header' : '');
  return { 'Set-Cookie': describeHeader(`${names}; HttpOnly, Secure, SameSite=None`) };
}

function describeContent({ data, mediaTypes = [] }: SuccessOptions) {
  if (data !== undefined) {
    const properties = { status: { type: 'string', enum: ['success'] }, data: toSchema(data) };
    const schema = { type: 'object', required: ['status', 'data'], properties };
    return { content: { 'application/json': { schema } } };
  }
  const contents = mediaTypes.map((mediaType) => {
    const isText = mediaType.startsWith('text/');
    return [mediaType, { schema: { type: 'string', ...(!isText && { format: 'binary' }) } }] as const;
  });
  return contents.length > 0 && { content: Object.fromEntries(contents) };
}

function toSchema(data: NonNullable<SuccessOptions['data']> | readonly [Type]): object {
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

/** Describes one response for each status, with the exact messages of its failures. */
export function describeFailures(documented: readonly Failure[]): MethodDecorator[] {
  const statuses = new Set(documented.map(({ status }) => status));
  return [...statuses].map((status) => {
    const ofStatus = documented.filter((failure) => failure.status === status);
    const messages = [...new Set(ofStatus.map(({ message }) => message))];
    const errors = {
      properties: { code: { type: 'integer', enum: [status] }, message: { type: 'string', enum: messages } },
    };
    const examples = ofStatus.map((failure) => {
      const name = [failure.message, ...Object.values(failure.details ?? {})].join(': ');
      return [name, { value: toFailEnvelope(failure) }] as const;
    });
    const schema = { allOf: [toSchema(FailEnvelope), { properties: { errors } }] };
    return ApiResponse({
      status,
      description: messages.join('; '),
      headers: REQUEST_ID,
      content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
    });
  });
}
