import { MESSAGES } from './failure.js';

export type Access = 'none' | 'user' | 'admin' | 'catalog' | 'refresh cookie';
export type Failures = readonly (readonly [code: number, message: string])[];

const VALIDATION = [400, MESSAGES.validation] as const;
const CREDENTIALS = [400, MESSAGES.credentials] as const;
const OTP = [400, MESSAGES.otp] as const;
const IMAGE_TOO_LARGE = [413, 'an image can have 5 MiB at max'] as const;
const NOT_FOUND = [404, MESSAGES.notFound] as const;
const EMAIL_TAKEN = [409, MESSAGES.emailTaken] as const;
const NOT_PENDING = [409, 'order is no longer pending'] as const;
const GATEWAY_AWAY = [502, 'payment gateway is unavailable, please try again later'] as const;

/**
 * Every operation of the service: its permitted callers (contract 4), its inputs, and its failures in addition to those
 * of every operation of its kind (contract 7).
 */
export const OPERATIONS: Readonly<Record<string, [Access, 'json' | 'form' | null, Failures]>> = {
  'POST /api/register': ['none', 'json', [VALIDATION, EMAIL_TAKEN]],
  'POST /api/login': ['none', 'json', [VALIDATION, CREDENTIALS]],
  'GET /api/refresh': [
    'refresh cookie',
    null,
    [
      [401, MESSAGES.missingRefreshToken],
      [401, MESSAGES.refreshToken],
    ],
  ],
  'POST /api/logout': ['none', null, []],
  'POST /api/otp': ['user', null, []],
  'POST /api/otp/verify': ['user', 'json', [VALIDATION, OTP]],
  'GET /api/users': ['user', null, []],
  'PATCH /api/users': ['user', 'json', [VALIDATION, CREDENTIALS, EMAIL_TAKEN]],
  'PUT /api/users/password': ['user', 'json', [VALIDATION, CREDENTIALS]],
  'POST /api/password/forgot': ['none', 'json', [VALIDATION]],
  'POST /api/password/reset': ['none', 'json', [VALIDATION, OTP]],

  'GET /api/products': ['catalog', null, [VALIDATION, NOT_FOUND]],
  'GET /api/products/{product_id}': ['catalog', null, [NOT_FOUND]],
  'POST /api/products': [
    'admin',
    'form',
    [
      VALIDATION,
      IMAGE_TOO_LARGE,
      [500, 'fail to create product and this is not your fault, please try again later'],
    ],
  ],
  'PUT /api/products/{product_id}': [
    'admin',
    'form',
    [
      [400, 'validation errors'],
      [400, 'each product can only have 5 images at max'],
      IMAGE_TOO_LARGE,
      NOT_FOUND,
    ],
  ],
  'DELETE /api/products/{product_id}': ['admin', null, [NOT_FOUND]],
  'GET /api/admin/products': ['admin', null, [VALIDATION, NOT_FOUND]],
  'PUT /api/admin/products/{product_id}/availability': ['admin', 'json', [VALIDATION, NOT_FOUND]],

  'POST /api/orders': [
    'user',
    'json',
    [VALIDATION, [409, 'idempotency key was used with another request'], GATEWAY_AWAY],
  ],
  'GET /api/orders': ['user', null, [VALIDATION, NOT_FOUND]],
  'GET /api/orders/{order_id}': ['user', null, [NOT_FOUND]],
  'POST /api/orders/{order_id}/token': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'POST /api/orders/{order_id}/cancel': ['user', null, [NOT_FOUND, NOT_PENDING, GATEWAY_AWAY]],
  'GET /api/admin/orders': ['admin', null, [VALIDATION, NOT_FOUND]],
  'GET /api/admin/orders/{order_id}': ['admin', null, [VALIDATION, NOT_FOUND]],
  'PUT /api/admin/orders/{order_id}/fulfilment': [
    'admin',
    'json',
    [
      VALIDATION,
      NOT_FOUND,
      ...['new', 'preparing', 'ready', 'collected', 'refused'].map(
        (step) => [409, `the order cannot become ${step}`] as const,
      ),
      GATEWAY_AWAY,
    ],
  ],
  'POST /api/admin/orders/{order_id}/refund': [
    'admin',
    'json',
    [
      VALIDATION,
      NOT_FOUND,
      [409, 'order cannot be refunded'],
      [409, 'the gateway cannot refund this payment'],
      [409, 'idempotency key was used with another request'],
      GATEWAY_AWAY,
    ],
  ],

  'GET /api/admin/days/{date}': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales.csv': ['admin', null, [VALIDATION]],
  'GET /api/shop': ['none', null, []],
  'PUT /api/admin/shop': ['admin', 'json', [VALIDATION]],

  'POST /api/products/payments': ['none', 'json', [VALIDATION, [403, 'invalid signature'], NOT_FOUND]],
  'GET /api/images/{name}': ['none', null, [NOT_FOUND]],
  'GET /api/health/live': ['none', null, []],
  'GET /api/health/ready': [
    'none',
    null,
    [
      [503, 'the service is not ready: database'],
      [503, 'the service is not ready: migrations'],
      [503, 'the service is not ready: queue'],
      [503, 'the service is not ready: database, queue'],
      [503, 'the service is not ready: migrations, queue'],
    ],
  ],
};

/** Returns all failures of an operation: its own and those of its kind. */
export function expectedFailures(name: string): Failures {
  const [access, takes, own] = OPERATIONS[name] ?? ['none', null, []];
  const needsAccessCookie = access !== 'none' && access !== 'refresh cookie';
  return [
    ...own,
    ...(needsAccessCookie
      ? [[400, MESSAGES.malformedAccessToken] as const, [401, MESSAGES.missingAccessToken] as const]
      : []),
    ...(access === 'admin' ? [[403, MESSAGES.adminOnly] as const] : []),
    ...(name.startsWith('GET ') ? [] : [[403, MESSAGES.origin] as const]),
    ...(takes === null && !name.includes('{') ? [] : [[400, MESSAGES.malformedRequest] as const]),
    ...(takes === null
      ? []
      : [
          [413, MESSAGES.tooLarge] as const,
          [415, 'content encoding or character set is not supported'] as const,
        ]),
    ...(takes === 'form' ? [[408, 'request took too long'] as const] : []),
    [500, MESSAGES.unexpected],
    [503, MESSAGES.unavailable],
  ];
}
