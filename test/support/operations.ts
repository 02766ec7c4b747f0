import { MESSAGES } from './failure.js';

/** Permitted callers. `catalog` means `user`, or `public` if the setting CATALOG_ACCESS is `public`. */
export type Access = 'public' | 'user' | 'admin' | 'catalog' | 'refresh cookie';
type Failures = readonly (readonly [code: number, message: string])[];

const VALIDATION = [400, MESSAGES.validation] as const;
const CREDENTIALS = [400, MESSAGES.credentials] as const;
const OTP = [400, MESSAGES.otp] as const;
const IMAGE_TOO_LARGE = [413, 'an image can have 5 MiB at max'] as const;
const NOT_FOUND = [404, MESSAGES.notFound] as const;
const EMAIL_TAKEN = [409, MESSAGES.emailTaken] as const;
const NOT_PENDING = [409, MESSAGES.notPending] as const;
const KEY_REUSED = [409, MESSAGES.keyReused] as const;
const GATEWAY_AWAY = [502, MESSAGES.gatewayAway] as const;
const INVALID_OR_UNKNOWN = [VALIDATION, NOT_FOUND];

const refreshFailures: Failures = [
  [401, MESSAGES.missingRefreshToken],
  [401, MESSAGES.refreshToken],
];
const creationFailures: Failures = [
  VALIDATION,
  IMAGE_TOO_LARGE,
  [500, 'fail to create product and this is not your fault, please try again later'],
];
const updateFailures: Failures = [
  [400, 'validation errors'], // the plural, unlike the other operations
  [400, 'each product can only have 5 images at max'],
  IMAGE_TOO_LARGE,
  NOT_FOUND,
];
const fulfilments = ['new', 'preparing', 'ready', 'collected', 'refused'];
const fulfilmentFailures: Failures = [
  ...INVALID_OR_UNKNOWN,
  ...fulfilments.map((fulfilment) => [409, `the order cannot become ${fulfilment}`] as const),
  GATEWAY_AWAY,
];
const refundFailures: Failures = [
  ...INVALID_OR_UNKNOWN,
  [409, 'order cannot be refunded'],
  [409, 'the gateway cannot refund this payment'],
  KEY_REUSED,
  GATEWAY_AWAY,
];
const readinessFailures = ['database', 'migrations', 'queue', 'database, queue', 'migrations, queue'].map(
  (problem) => [503, `the service is not ready: ${problem}`] as const,
);

/**
 * Every operation of the service: its permitted callers (contract 4), the format of its request body, and its own failures
 * (contract 7). `expectedFailures` adds 500, 503 and the failures that follow from callers, method, path and body format.
 */
export const OPERATIONS: Readonly<Record<string, [Access, 'json' | 'form' | null, Failures]>> = {
  'POST /api/register': ['public', 'json', [VALIDATION, EMAIL_TAKEN]],
  'POST /api/login': ['public', 'json', [VALIDATION, CREDENTIALS]],
  'GET /api/refresh': ['refresh cookie', null, refreshFailures],
  'POST /api/logout': ['public', null, []],
  'POST /api/otp': ['user', null, []],
  'POST /api/otp/verify': ['user', 'json', [VALIDATION, OTP]],
  'GET /api/users': ['user', null, []],
  'PATCH /api/users': ['user', 'json', [VALIDATION, CREDENTIALS, EMAIL_TAKEN]],
  'PUT /api/users/password': ['user', 'json', [VALIDATION, CREDENTIALS]],
  'POST /api/password/forgot': ['public', 'json', [VALIDATION]],
  'POST /api/password/reset': ['public', 'json', [VALIDATION, OTP]],

  'GET /api/products': ['catalog', null, INVALID_OR_UNKNOWN],
  'GET /api/products/{product_id}': ['catalog', null, [NOT_FOUND]],
  'POST /api/products': ['admin', 'form', creationFailures],
  'PUT /api/products/{product_id}': ['admin', 'form', updateFailures],
  'DELETE /api/products/{product_id}': ['admin', null, [NOT_FOUND]],
  'GET /api/admin/products': ['admin', null, INVALID_OR_UNKNOWN],
  'PUT /api/admin/products/{product_id}/availability': ['admin', 'json', INVALID_OR_UNKNOWN],

  'POST /api/orders': ['user', 'json', [VALIDATION, KEY_REUSED, GATEWAY_AWAY]],
  'GET /api/orders': ['user', null, INVALID_OR_UNKNOWN],
  'GET /api/orders/{order_id}': ['user', null, [NOT_FOUND]],
  'POST /api/orders/{order_id}/token': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'POST /api/orders/{order_id}/cancel': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'GET /api/admin/orders': ['admin', null, INVALID_OR_UNKNOWN],
  'GET /api/admin/orders/{order_id}': ['admin', null, INVALID_OR_UNKNOWN],
  'PUT /api/admin/orders/{order_id}/fulfilment': ['admin', 'json', fulfilmentFailures],
  'POST /api/admin/orders/{order_id}/refund': ['admin', 'json', refundFailures],

  'GET /api/admin/days/{date}': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales.csv': ['admin', null, [VALIDATION]],
  'GET /api/shop': ['public', null, []],
  'PUT /api/admin/shop': ['admin', 'json', [VALIDATION]],

  'POST /api/products/payments': ['public', 'json', [VALIDATION, [403, 'invalid signature'], NOT_FOUND]],
  'GET /api/images/{name}': ['public', null, [NOT_FOUND]],
  'GET /api/health/live': ['public', null, []],
  'GET /api/health/ready': ['public', null, readinessFailures],
};

/** Returns all failures of an operation. @param name key of `OPERATIONS`, for example `POST /api/orders` */
export function expectedFailures(name: string): Failures {
  const [access, bodyFormat, own] = OPERATIONS[name] ?? ['public', null, []];
  const failures: (readonly [number, string])[] = [...own];
  if (access !== 'public' && access !== 'refresh cookie')
    failures.push([400, MESSAGES.malformedAccessToken], [401, MESSAGES.missingAccessToken]);
  if (access === 'admin') failures.push([403, MESSAGES.adminOnly]);
  if (!name.startsWith('GET ')) failures.push([403, MESSAGES.origin]);
  if (bodyFormat !== null || name.includes('{')) failures.push([400, MESSAGES.malformedRequest]);
  if (bodyFormat !== null) failures.push([413, MESSAGES.tooLarge], [415, MESSAGES.unsupportedEncoding]);
  if (bodyFormat === 'form') failures.push([408, MESSAGES.tooSlow]);
  return [...failures, [500, MESSAGES.unexpected], [503, MESSAGES.unavailable]];
}
