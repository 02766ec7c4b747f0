import { computeSignature, type Notification } from '../support/notifications.js';
import { extractOperations, type OpenApi, type Operation, type Schema } from '../support/openapi.js';
import type { FormFile } from '../support/products.js';
import { FORM_TYPE, buildFormPieces } from '../support/upload-load.js';
import {
  createFields,
  createValue,
  HOSTILE_NAMES,
  HOSTILE_PARAMETERS,
  listWrongValues,
  type StoredValues,
  type Values,
} from './hostile-requests.values.js';

export interface DocumentedOperation {
  /** For example `POST /api/orders`. */
  readonly name: string;
  readonly operation: Operation;
  /** Media type of the body; empty for an operation without a body. */
  readonly mediaType: string;
  /** Schema of the body. */
  readonly body: Schema;
}

export interface BuiltRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Difference between a request and the request that contains only the required parameters and fields. */
interface Change {
  /** Replaces or adds encoded parameters. */
  readonly parameters?: Values;
  /** Replaces or adds fields of the body. */
  readonly body?: Values;
  /** True if the request also contains all optional parameters and fields. */
  readonly isComplete?: boolean;
}

export function listOperations(document: OpenApi): DocumentedOperation[] {
  return extractOperations(document).map(([method, path, operation]) => {
    const [[mediaType, { schema: body = {} }] = ['', {}]] = Object.entries(
      operation.requestBody?.content ?? {},
    );
    return { name: `${method.toUpperCase()} ${path}`, operation, mediaType, body };
  });
}

/**
 * Builds a valid request without and one with the optional parameters and fields, and one request for each wrong value of each
 * parameter and field. If the operation has a body, also builds one request for each name in HOSTILE_NAMES, with a field of that
 * name. The rest of each request is valid.
 */
export function buildRequests(documented: DocumentedOperation, cookie: string, stored: StoredValues) {
  const { operation, body, mediaType } = documented;
  const changes: Change[] = [
    {},
    { isComplete: true },
    ...(operation.parameters ?? []).flatMap(({ name }) =>
      HOSTILE_PARAMETERS.map((value) => ({ parameters: { [name]: value } })),
    ),
    ...Object.entries(body.properties ?? {}).flatMap(([name, schema]) =>
      listWrongValues(schema, stored).map((value) => ({ body: { [name]: value } })),
    ),
    ...(mediaType === '' ? [] : HOSTILE_NAMES).map((name) => ({ body: { [name]: 'ADMIN' } })),
  ];
  return changes.map((change, n) => buildRequest(documented, cookie, stored, change, n));
}

function buildRequest(
  { operation, body: schema, name, mediaType }: DocumentedOperation,
  cookie: string,
  stored: StoredValues,
  { parameters: changedParameters, body: changedFields, isComplete = false }: Change,
  n: number,
): BuiltRequest {
  const documented = operation.parameters ?? [];
  const sent = documented.filter(({ required = false }) => required || isComplete);
  const parameters: Values = {
    ...Object.fromEntries(
      sent.map(({ name: key, schema: own = {} }) => [
        key,
        encodeURIComponent(String(createValue(own, stored, key, n))),
      ]),
    ),
    ...changedParameters,
  };
  // A changed notification is signed too, because the service rejects wrong signatures. A changed signature is kept.
  const fields = { ...createFields(schema, stored, n, isComplete), ...changedFields };
  const body = { ...signNotification(fields), ...changedFields };
  const [method = '', path = ''] = name.split(' ');
  const listParameters = (where: 'query' | 'header') =>
    documented
      .filter(({ name: key, in: location }) => location === where && parameters[key] !== undefined)
      .map(({ name: key }) => [key, String(parameters[key])] as const);
  const query = listParameters('query').map(([key, value]) => `${key}=${value}`);
  const contentType = mediaType === 'multipart/form-data' ? FORM_TYPE : mediaType;
  return {
    method,
    path:
      // An empty parameter would change the route, so a space replaces it.
      path.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(parameters[key]) || '%20') +
      (query.length === 0 ? '' : `?${query.join('&')}`),
    headers: {
      ...Object.fromEntries(listParameters('header')),
      Cookie: cookie,
      ...(contentType !== '' && { 'Content-Type': contentType }),
    },
    body: encodeBody(contentType, body),
  };
}

/** Signs the body if it is a notification. */
function signNotification(body: Values): Values {
  const { order_id, status_code, gross_amount } = body;
  const isNotification = [order_id, status_code, gross_amount].every((field) => typeof field === 'string');
  return isNotification ? { ...body, signature_key: computeSignature(body as Notification) } : body;
}

function encodeBody(contentType: string, fields: Values): Buffer {
  if (contentType === 'application/json') return Buffer.from(JSON.stringify(fields));
  if (contentType !== FORM_TYPE) return Buffer.alloc(0);
  const { images = [], ...texts } = fields;
  const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const entries = Object.entries(texts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string[]] => [name, [value].flat().map(toText)]);
  return Buffer.concat(buildFormPieces(Object.fromEntries(entries), images as FormFile[]));
}
