import fc from 'fast-check';
import { computeSignature, type Notification } from '../support/notifications.js';
import {
  extractOperations,
  type OpenApi,
  type Operation,
  resolveReferences,
  type Schema,
} from '../support/openapi.js';
import type { FormFile } from '../support/products.js';
import { FORM_TYPE, buildFormPieces } from '../support/upload-load.js';
import { HOSTILE_NAMES, HOSTILE_PARAMETERS } from './random-requests.hostile-values.js';
import {
  type ExistingValues,
  generateFields,
  generateValue,
  listWrongValues,
  type Values,
} from './random-requests.values.js';

/** Valid requests of each operation. */
const VALID_REQUESTS = 5;

export interface DocumentedOperation {
  /** For example `POST /api/orders`. */
  readonly name: string;
  readonly operation: Operation;
  /** Media type of the body; empty for an operation without a body. */
  readonly mediaType: string;
  /** Schema of the body. */
  readonly body: Schema;
}

export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface StoredData {
  /** Cookie headers by user. */
  readonly cookies: Readonly<Record<'customer' | 'admin', string>>;
  /** Existing values by the name of a parameter or field. */
  readonly values: ExistingValues;
}

/** Values from which a request is built. */
interface RequestValues {
  readonly parameters: Values;
  readonly body: Values;
}

export function listOperations(document: OpenApi): DocumentedOperation[] {
  return extractOperations(document).map(([method, path, operation]) => {
    const [[mediaType, { schema = {} }] = ['', {}]] = Object.entries(operation.requestBody?.content ?? {});
    const body = resolveReferences(document, schema);
    return { name: `${method.toUpperCase()} ${path}`, operation, mediaType, body };
  });
}

/**
 * Builds a few valid requests, and one request for each wrong value of each parameter and field. If the operation has a body, also
 * builds one request for each name in HOSTILE_NAMES, with a field of that name. The rest of each request is valid.
 */
export function buildRequests(
  documented: DocumentedOperation,
  stored: StoredData,
  seed: number,
): RandomRequest[] {
  const { operation, body, name, mediaType } = documented;
  const wrongParameters = (operation.parameters ?? []).flatMap((parameter) =>
    HOSTILE_PARAMETERS.map((value) => ({ parameters: { [parameter.name]: value }, body: {} })),
  );
  const wrongFields = Object.entries(body.properties ?? {}).flatMap(([field, schema]) =>
    listWrongValues(schema, stored.values, seed).map((value) => ({
      parameters: {},
      body: { [field]: value },
    })),
  );
  const unknownFields = (mediaType === '' ? [] : HOSTILE_NAMES).map((field) => ({
    parameters: {},
    body: { [field]: 'ADMIN' },
  }));
  const unchanged = Array.from({ length: VALID_REQUESTS }, () => ({ parameters: {}, body: {} }));
  const changes = [...unchanged, ...wrongParameters, ...wrongFields, ...unknownFields];
  const cookie = stored.cookies[/\/(products|admin)/.test(name) ? 'admin' : 'customer'];
  const valid = fc.sample(generateValues(documented, stored), { numRuns: changes.length, seed });
  return valid.map((values, index) => buildRequest(documented, cookie, values, changes[index]));
}

/** Generates valid values of the parameters and fields of an operation. */
function generateValues({ operation, body, name }: DocumentedOperation, { values: existing }: StoredData) {
  const parameters = (operation.parameters ?? []).map(({ name: key, required = false, schema = {} }) => {
    const text = generateValue(schema, existing, key).map((plain) => encodeURIComponent(String(plain)));
    return [key, required ? text : fc.option(text, { nil: undefined })] as const;
  });
  // These operations need a new email address. The other operations need an existing address.
  const isNewEmail = name === 'POST /api/register' || name === 'PATCH /api/users';
  return fc.record({
    parameters: fc.record(Object.fromEntries(parameters)),
    body: generateFields(body, isNewEmail ? { ...existing, email: [] } : existing),
  });
}

/** @param change values that replace valid values, or that are sent in addition */
function buildRequest(
  { operation, name, mediaType }: DocumentedOperation,
  cookie: string,
  valid: RequestValues,
  change: RequestValues = { parameters: {}, body: {} },
): RandomRequest {
  const parameters = { ...valid.parameters, ...change.parameters };
  // A changed notification is signed too, because the service rejects wrong signatures. A changed signature is kept.
  const body = { ...signNotification({ ...valid.body, ...change.body }), ...change.body };
  const [method = '', path = ''] = name.split(' ');
  const listParameters = (where: 'query' | 'header') =>
    (operation.parameters ?? [])
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
