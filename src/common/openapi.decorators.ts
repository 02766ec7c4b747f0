import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiCookieAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { type Failure, failures } from './errors.js';
import { failEnvelope } from './fail-envelope.filter.js';

/** A text under `data`, shown by an example. */
interface ExampleText {
  readonly example: string;
}

/** A property of `data`: a view, a list of views, or a text. */
type DataProperty = Type | readonly [Type] | ExampleText;
type DataShape = Readonly<Record<string, DataProperty>>;

/** All that the OpenAPI document says of one operation besides its parameters. */
export interface EndpointDocs {
  readonly summary: string;
  readonly description?: string;
  /** Which cookie it needs (contract 4). */
  readonly access: 'none' | 'user' | 'admin' | 'refresh cookie';
  readonly success: {
    readonly status: 200 | 201 | 204;
    readonly description?: string;
    /** What stands under `data`; without it the answer has no body, or is a file. */
    readonly data?: DataShape;
    /** Media types of an answer that is a file. */
    readonly files?: readonly string[];
    /** Names of the cookies that are set. */
    readonly cookies?: readonly string[];
    /** Whether clients are meant to ask again and again, with the ETag of the last answer. */
    readonly isRevalidated?: boolean;
  };
  /** The body that it reads; a body may be malformed or too large. */
  readonly takes?: 'json' | 'form';
  /** What it refuses, besides what every operation of its kind does. */
  readonly failures?: readonly Failure[];
  /** Whether it changes state, and so refuses foreign origins. */
  readonly changesState?: boolean;
}

/** Documents an operation completely: summary, cookie, answer, and every failure with its exact message. */
export function ApiEndpoint(docs: EndpointDocs): MethodDecorator {
  const { access, success } = docs;
  const models = Object.values(success.data ?? {}).flatMap((entry) => {
    if (isText(entry)) return [];
    return isList(entry) ? [entry[0]] : [entry];
  });
  return applyDecorators(
    ApiOperation({
      summary: docs.summary,
      ...(docs.description !== undefined && { description: docs.description }),
    }),
    ...(access === 'none'
      ? []
      : [ApiCookieAuth(access === 'refresh cookie' ? 'refreshToken' : 'accessToken')]),
    ApiExtraModels(...models),
    ApiResponse({
      status: success.status,
      description: success.description ?? 'Success',
      headers: answerHeaders(docs),
      ...(success.data !== undefined && { schema: successSchema(success.data) }),
      ...(success.files !== undefined && { content: fileContent(success.files) }),
    }),
    ...(hasETag(docs) ? [UNCHANGED] : []),
    ...(success.isRevalidated === true ? [IF_NONE_MATCH] : []),
    ...failureResponses([
      ...(access === 'user' || access === 'admin'
        ? [failures.malformedAccessToken(), failures.missingAccessToken()]
        : []),
      ...(access === 'admin' ? [failures.adminOnly()] : []),
      ...(docs.changesState === true ? [failures.origin()] : []),
      ...(docs.failures ?? []),
      ...(docs.takes === undefined
        ? []
        : [failures.malformedRequest(), failures.tooLarge(), failures.unsupportedEncoding()]),
      failures.unexpected(),
      failures.unavailable(),
    ]),
  );
}

const text = (description: string) => ({ description, schema: { type: 'string' as const } });

const REQUEST_ID = { 'X-Request-Id': text('On every answer, and on every log line of the request') };
const ETAG = { ETag: text('Of this state; for `If-None-Match`') };

const UNCHANGED = ApiResponse({
  status: 304,
  description: 'Unchanged since the answer whose ETag the request named; empty body',
  headers: { ...REQUEST_ID, ...ETAG },
});

const IF_NONE_MATCH = ApiHeader({
  name: 'If-None-Match',
  required: false,
  description: 'The ETag of the last answer',
  schema: { type: 'string' },
});

/** Answers to reads have an ETag; answers that change something or set cookies have none. */
function hasETag({ success: { cookies = [] }, changesState = false, takes }: EndpointDocs): boolean {
  return !changesState && takes === undefined && cookies.length === 0;
}

function answerHeaders(docs: EndpointDocs) {
  const { cookies = [] } = docs.success;
  return {
    ...REQUEST_ID,
    ...(hasETag(docs) && ETAG),
    ...(cookies.length > 0 && {
      'Set-Cookie': text(
        `${cookies.join(' and ')}, each in a header of its own; HttpOnly, Secure, SameSite=None`,
      ),
    }),
  };
}

function successSchema(shape: DataShape) {
  const properties = Object.entries(shape).map(([key, entry]) => [key, propertySchema(entry)]);
  return {
    type: 'object' as const,
    required: ['status', 'data'],
    properties: {
      status: { type: 'string' as const, enum: ['success'] },
      data: {
        type: 'object' as const,
        required: Object.keys(shape),
        properties: Object.fromEntries(properties) as Record<string, { $ref: string }>,
      },
    },
  };
}

function propertySchema(entry: DataProperty) {
  if (isText(entry)) return { type: 'string', example: entry.example };
  return isList(entry)
    ? { type: 'array', items: { $ref: getSchemaPath(entry[0]) } }
    : { $ref: getSchemaPath(entry) };
}

function fileContent(mediaTypes: readonly string[]) {
  const schema = { type: 'string' as const, format: 'binary' };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
}

function isText(entry: DataProperty): entry is ExampleText {
  return 'example' in entry;
}

function isList(entry: DataProperty): entry is readonly [Type] {
  return Array.isArray(entry);
}

function failureResponses(documented: readonly Failure[]): MethodDecorator[] {
  const statuses = [...new Set(documented.map(({ code }) => code))].sort((a, b) => a - b);
  return statuses.map((status) => {
    const ofStatus = documented.filter(({ code }) => code === status);
    const messages = [...new Set(ofStatus.map(({ message }) => message))];
    return ApiResponse({
      status,
      description: messages.join('; '),
      headers: REQUEST_ID,
      content: {
        'application/json': {
          schema: failureSchema(ofStatus),
          examples: Object.fromEntries(
            ofStatus.map((failure) => [failure.message, { value: failEnvelope(failure) }]),
          ),
        },
      },
    });
  });
}

function failureSchema(ofStatus: readonly Failure[]) {
  const hasDetails = ofStatus.some(({ details }) => details !== undefined);
  return {
    type: 'object' as const,
    required: ['status', 'errors'],
    properties: {
      status: { type: 'string' as const, enum: ['fail'] },
      errors: {
        type: 'object' as const,
        required: ['code', 'message'],
        properties: {
          code: { type: 'integer' as const, enum: [ofStatus[0]?.code] },
          message: { type: 'string' as const, enum: [...new Set(ofStatus.map(({ message }) => message))] },
          ...(hasDetails && {
            details: {
              type: 'object' as const,
              description: 'One message for each field that failed',
              additionalProperties: { type: 'string' as const },
            },
          }),
        },
      },
    },
  };
}
