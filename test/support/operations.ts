import { MESSAGES } from './failure.js';
import type { HttpMethod } from './routes.js';

export type Access = 'public' | 'user' | 'admin';

/** Call of an operation. Every path parameter is 1: `/api/products/1`. */
export interface OperationCall {
  readonly method: HttpMethod;
  readonly path: string;
}

type Failures = readonly (readonly [code: number, message: string])[];

const VALIDATION = [400, MESSAGES.validation] as const;
const WRONG_CREDENTIALS = [400, MESSAGES.wrongCredentials] as const;
const INVALID_OTP = [400, MESSAGES.invalidOtp] as const;
const IMAGE_TOO_LARGE = [413, 'an image can have 5 MiB at max'] as const;
const NOT_FOUND = [404, MESSAGES.notFound] as const;
const EMAIL_TAKEN = [409, MESSAGES.emailTaken] as const;
const CHANGED_MEANWHILE = [412, MESSAGES.changedMeanwhile] as const;
const ORDER_NOT_PENDING = [409, MESSAGES.orderNotPending] as const;
const IDEMPOTENCY_KEY_REUSED = [409, MESSAGES.idempotencyKeyReused] as const;
const TOO_MANY_OPEN_ORDERS = [409, 'you have too many unpaid orders'] as const;
const GATEWAY_UNAVAILABLE = [502, MESSAGES.gatewayUnavailable] as const;
const INVALID_OR_UNKNOWN_FAILURES: Failures = [VALIDATION, NOT_FOUND];

const REFRESH_FAILURES: Failures = [
  [401, MESSAGES.missingRefreshToken],
  [401, MESSAGES.invalidRefreshToken],
];
const CREATION_FAILURES: Failures = [
  VALIDATION,
  IMAGE_TOO_LARGE,
  [500, 'fail to create product and this is not your fault, please try again later'],
];
const UPDATE_FAILURES: Failures = [
  [400, 'validation errors'], // the plural, unlike the other operations
  [400, 'each product can only have 5 images at max'],
  IMAGE_TOO_LARGE,
  NOT_FOUND,
  CHANGED_MEANWHILE,
];
const FULFILMENTS = ['new', 'preparing', 'ready', 'collected', 'refused'];
const FULFILMENT_FAILURES: Failures = [
  ...INVALID_OR_UNKNOWN_FAILURES,
  ...FULFILMENTS.map((fulfilment) => [409, `the order cannot become ${fulfilment}`] as const),
  GATEWAY_UNAVAILABLE,
];
const REFUND_FAILURES: Failures = [
  ...INVALID_OR_UNKNOWN_FAILURES,
  [409, 'order cannot be refunded'],
  [409, 'the gateway cannot refund this payment'],
  IDEMPOTENCY_KEY_REUSED,
  GATEWAY_UNAVAILABLE,
];
const READINESS_FAILURES = ['database', 'migrations', 'queue', 'database, queue', 'migrations, queue'].map(
  (problem) => [503, `the service is not ready: ${problem}`] as const,
);

/**
 * Every operation of the service: its access (contract 4), the format of its request body, and its own failures
 * (contract 7). `expectedFailures` adds 431, 500, 503 and the failures that follow from access, method and path.
 */
export const OPERATIONS: Readonly<Record<string, [Access, 'json' | 'form' | null, Failures]>> = {
  'POST /api/register': ['public', 'json', [VALIDATION, EMAIL_TAKEN]],
  'POST /api/login': ['public', 'json', [VALIDATION, WRONG_CREDENTIALS]],
  'GET /api/refresh': ['public', null, REFRESH_FAILURES],
  'POST /api/logout': ['public', null, []],
  'POST /api/otp': ['user', null, []],
  'POST /api/otp/verify': ['user', 'json', [VALIDATION, INVALID_OTP]],
  'GET /api/users': ['user', null, []],
  'PATCH /api/users': ['user', 'json', [VALIDATION, WRONG_CREDENTIALS, EMAIL_TAKEN]],
  'PUT /api/users/password': ['user', 'json', [VALIDATION, WRONG_CREDENTIALS]],
  'POST /api/password/forgot': ['public', 'json', [VALIDATION]],
  'POST /api/password/reset': ['public', 'json', [VALIDATION, INVALID_OTP]],

  'GET /api/products': ['user', null, INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/products/{product_id}': ['user', null, [NOT_FOUND]],
  'POST /api/products': ['admin', 'form', CREATION_FAILURES],
  'PUT /api/products/{product_id}': ['admin', 'form', UPDATE_FAILURES],
  'DELETE /api/products/{product_id}': ['admin', null, [NOT_FOUND]],
  'GET /api/admin/products': ['admin', null, INVALID_OR_UNKNOWN_FAILURES],
  'PUT /api/admin/products/{product_id}/availability': ['admin', 'json', INVALID_OR_UNKNOWN_FAILURES],

  'POST /api/orders': [
    'user',
    'json',
    [VALIDATION, IDEMPOTENCY_KEY_REUSED, TOO_MANY_OPEN_ORDERS, GATEWAY_UNAVAILABLE],
  ],
  'GET /api/orders': ['user', null, INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/orders/{order_id}': ['user', null, [NOT_FOUND]],
  'POST /api/orders/{order_id}/token': ['user', null, [NOT_FOUND, ORDER_NOT_PENDING, GATEWAY_UNAVAILABLE]],
  'POST /api/orders/{order_id}/cancel': ['user', null, [NOT_FOUND, ORDER_NOT_PENDING, GATEWAY_UNAVAILABLE]],
  'GET /api/admin/orders': ['admin', null, INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/admin/orders/{order_id}': ['admin', null, INVALID_OR_UNKNOWN_FAILURES],
  'PUT /api/admin/orders/{order_id}/fulfilment': ['admin', 'json', FULFILMENT_FAILURES],
  'POST /api/admin/orders/{order_id}/refund': ['admin', 'json', REFUND_FAILURES],

  'GET /api/admin/days/{date}': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales': ['admin', null, [VALIDATION]],
  'GET /api/admin/sales.csv': ['admin', null, [VALIDATION]],
  'GET /api/shop': ['public', null, []],
  'GET /api/admin/shop': ['admin', null, []],
  'PUT /api/admin/shop': ['admin', 'json', [VALIDATION, CHANGED_MEANWHILE]],

  'POST /api/products/payments': ['public', 'json', [VALIDATION, [403, 'invalid signature'], NOT_FOUND]],
  'GET /api/images/{name}': ['public', null, [NOT_FOUND, CHANGED_MEANWHILE]],
  'GET /api/health/live': ['public', null, []],
  'GET /api/health/ready': ['public', null, READINESS_FAILURES],
};

/** Lists a call of each operation with this access. */
export function listOperations(access: Access): OperationCall[] {
  return Object.entries(OPERATIONS)
    .filter(([, [expected]]) => expected === access)
    .map(([name]) => {
      const [method = '', path = ''] = name.replaceAll(/\{\w+\}/g, '1').split(' ');
      return { method: method.toLowerCase() as HttpMethod, path };
    });
}

/** Returns all failures of an operation. `name`: key of `OPERATIONS`, for example `POST /api/orders`. */
export function expectedFailures(name: string): Failures {
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(`OPERATIONS does not contain ${name}`);
  const [access, , own] = operation;
  const failures: (readonly [number, string])[] = [...own];
  if (access !== 'public')
    failures.push([400, MESSAGES.malformedAccessToken], [401, MESSAGES.missingAccessToken]);
  if (access === 'admin') failures.push([403, MESSAGES.adminOnly]);
  const changesState = !name.startsWith('GET ');
  if (changesState || name.includes('{')) failures.push([400, MESSAGES.malformedRequest]);
  if (changesState)
    failures.push(
      [403, MESSAGES.originNotAllowed],
      [408, MESSAGES.requestTimeout],
      [413, MESSAGES.tooLarge],
      [415, MESSAGES.unsupportedEncoding],
    );
  return [
    ...failures,
    [431, 'request headers are too large'],
    [500, MESSAGES.unexpected],
    [503, MESSAGES.unavailable],
  ];
}
