import type { Response } from 'supertest';

/** Failure messages that several features share (contract 7). */
export const MESSAGES = {
  validation: 'validation error',
  malformedRequest: 'malformed request',
  wrongCredentials: 'email or password is incorrect',
  invalidOtp: 'invalid or expired otp',
  malformedAccessToken: 'invalid or malformed access token',
  missingAccessToken: 'access token missing or expired',
  missingRefreshToken: 'invalid request, refresh token unavailable',
  invalidRefreshToken: 'invalid refresh token',
  adminOnly: 'this action is only for user with admin access',
  originNotAllowed: 'origin is not allowed',
  notFound: "resource you're looking for is not found",
  emailTaken: 'this email already exists',
  orderNotPending: 'order is no longer pending',
  idempotencyKeyReused: 'idempotency key was used with another request',
  gatewayUnavailable: 'payment gateway is unavailable, please try again later',
  changedMeanwhile: 'changed in the meantime',
  tooLarge: 'request is too large',
  requestTimeout: 'request took too long',
  unsupportedEncoding: 'content encoding or character set is not supported',
  unexpected: 'something went wrong on our side, please try again later',
  unavailable: 'service is temporarily unavailable, please try again later',
} as const;

/** Builds the body of a failure (contract 2.4). */
export function buildFailure(code: number, message: string, details?: Readonly<Record<string, string>>) {
  return { status: 'fail', errors: { code, message, ...(details !== undefined && { details }) } };
}

export function expectFailure(
  response: Response,
  code: number,
  message: string,
  details?: Readonly<Record<string, string>>,
): void {
  expect({ status: response.status, body: response.body as unknown }).toEqual({
    status: code,
    body: buildFailure(code, message, details),
  });
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(response.headers['x-request-id']).toMatch(/^[\w.:-]{1,128}$/);
}

/** Asserts a failed validation with exactly these messages of fields. */
export function expectInvalid(response: Response, details: Readonly<Record<string, string>>): void {
  expectFailure(response, 400, MESSAGES.validation, details);
}

/** Returns the headers of a response, with empty values for those that differ in every response. */
export function comparableHeaders({ headers }: Response): Record<string, string> {
  return { ...(headers as Record<string, string>), 'x-request-id': '', date: '' };
}
