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
 * Every operation of the service: its access (contract 4) and its own failures (contract 7). `expectedFailures` adds 431, 500, 503
 * and the failures that follow from access, method and path.
 */
export const OPERATIONS: Readonly<Record<string, [Access, Failures]>> = {
  'POST /api/register': ['public', [VALIDATION, EMAIL_TAKEN]],
  'POST /api/login': ['public', [VALIDATION, WRONG_CREDENTIALS]],
  'GET /api/refresh': ['public', REFRESH_FAILURES],
  'POST /api/logout': ['public', []],
  'POST /api/otp': ['user', []],
  'POST /api/otp/verify': ['user', [VALIDATION, INVALID_OTP]],
  'GET /api/users': ['user', []],
  'PATCH /api/users': ['user', [VALIDATION, WRONG_CREDENTIALS, EMAIL_TAKEN]],
  'PUT /api/users/password': ['user', [VALIDATION, WRONG_CREDENTIALS]],
  'POST /api/password/forgot': ['public', [VALIDATION]],
  'POST /api/password/reset': ['public', [VALIDATION, INVALID_OTP]],

  'GET /api/products': ['user', INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/products/{product_id}': ['user', [NOT_FOUND]],
  'POST /api/products': ['admin', CREATION_FAILURES],
  'PUT /api/products/{product_id}': ['admin', UPDATE_FAILURES],
  'DELETE /api/products/{product_id}': ['admin', [NOT_FOUND]],
  'GET /api/admin/products': ['admin', INVALID_OR_UNKNOWN_FAILURES],
  'PUT /api/admin/products/{product_id}/availability': ['admin', INVALID_OR_UNKNOWN_FAILURES],

  'POST /api/orders': [
    'user',
    [VALIDATION, IDEMPOTENCY_KEY_REUSED, TOO_MANY_OPEN_ORDERS, GATEWAY_UNAVAILABLE],
  ],
  'GET /api/orders': ['user', INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/orders/{order_id}': ['user', [NOT_FOUND]],
  'POST /api/orders/{order_id}/token': ['user', [NOT_FOUND, ORDER_NOT_PENDING, GATEWAY_UNAVAILABLE]],
  'POST /api/orders/{order_id}/cancel': ['user', [NOT_FOUND, ORDER_NOT_PENDING, GATEWAY_UNAVAILABLE]],
  'GET /api/admin/orders': ['admin', INVALID_OR_UNKNOWN_FAILURES],
  'GET /api/admin/orders/{order_id}': ['admin', INVALID_OR_UNKNOWN_FAILURES],
  'PUT /api/admin/orders/{order_id}/fulfilment': ['admin', FULFILMENT_FAILURES],
  'POST /api/admin/orders/{order_id}/refund': ['admin', REFUND_FAILURES],

  'GET /api/admin/days/{date}': ['admin', [VALIDATION]],
  'GET /api/admin/sales': ['admin', [VALIDATION]],
  'GET /api/admin/sales.csv': ['admin', [VALIDATION]],
  'GET /api/shop': ['public', []],
  'GET /api/admin/shop': ['admin', []],
  'PUT /api/admin/shop': ['admin', [VALIDATION, CHANGED_MEANWHILE]],

  'POST /api/products/payments': ['public', [VALIDATION, [403, 'invalid signature'], NOT_FOUND]],
  'GET /api/images/{name}': ['public', [NOT_FOUND, CHANGED_MEANWHILE]],
  'GET /api/health/live': ['public', []],
  'GET /api/health/ready': ['public', READINESS_FAILURES],
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
  const [access, own] = operation;
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
