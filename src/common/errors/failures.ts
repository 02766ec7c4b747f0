export type FieldMessages = Readonly<Record<string, string>>;

/** Failure that a client may see. The `cause` is only logged. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly details: FieldMessages | undefined;

  constructor(
    readonly status: number,
    message: string,
    options: ErrorOptions & { readonly details?: FieldMessages } = {},
  ) {
    super(message, options);
    this.details = options.details;
  }
}

export const TOO_MANY_IMAGES = 'each product can only have 5 images at max';

/** Every status and message (contract 7). Most messages of fields are in the DTOs. */
export const failures = {
  validation: (details: FieldMessages, message = 'validation error') =>
    new Failure(400, message, { details }),
  malformedRequest: () => new Failure(400, 'malformed request'),
  wrongCredentials: () => new Failure(400, 'email or password is incorrect'),
  tooManyImages: () => new Failure(400, TOO_MANY_IMAGES),
  invalidOtp: () => new Failure(400, 'invalid or expired otp'),
  malformedAccessToken: () => new Failure(400, 'invalid or malformed access token'),
  missingAccessToken: () => new Failure(401, 'access token missing or expired'),
  missingRefreshToken: () => new Failure(401, 'invalid request, refresh token unavailable'),
  invalidRefreshToken: () => new Failure(401, 'invalid refresh token'),
  adminOnly: () => new Failure(403, 'this action is only for user with admin access'),
  originNotAllowed: () => new Failure(403, 'origin is not allowed'),
  invalidSignature: () => new Failure(403, 'invalid signature'),
  notFound: () => new Failure(404, "resource you're looking for is not found"),
  requestTimeout: () => new Failure(408, 'request took too long'),
  orderNotPending: () => new Failure(409, 'order is no longer pending'),
  stepNotPossible: (next: string) => new Failure(409, `the order cannot become ${next}`),
  tooManyOpenOrders: () => new Failure(409, 'you have too many unpaid orders'),
  orderNotRefundable: () => new Failure(409, 'order cannot be refunded'),
  refundRejected: () => new Failure(409, 'the gateway cannot refund this payment'),
  idempotencyKeyReused: () => new Failure(409, 'idempotency key was used with another request'),
  simulatorActionNotPossible: () => new Failure(409, 'the payment is in a state that does not allow this'),
  emailTaken: () => new Failure(409, 'this email already exists'),
  changedMeanwhile: () => new Failure(412, 'changed in the meantime'),
  tooLarge: () => new Failure(413, 'request is too large'),
  imageTooLarge: () => new Failure(413, 'an image can have 5 MiB at max'),
  unsupportedEncoding: () => new Failure(415, 'content encoding or character set is not supported'),
  headersTooLarge: () => new Failure(431, 'request headers are too large'),
  productNotCreated: (cause?: unknown) =>
    new Failure(500, 'fail to create product and this is not your fault, please try again later', { cause }),
  unexpected: (cause?: unknown) =>
    new Failure(500, 'something went wrong on our side, please try again later', { cause }),
  gatewayUnavailable: (cause?: unknown) =>
    new Failure(502, 'payment gateway is unavailable, please try again later', { cause }),
  notReady: (parts: readonly string[], reason?: string) =>
    new Failure(503, `the service is not ready: ${parts.join(', ')}`, { cause: reason }),
  unavailable: (cause?: unknown) =>
    new Failure(503, 'service is temporarily unavailable, please try again later', { cause }),
} as const;
