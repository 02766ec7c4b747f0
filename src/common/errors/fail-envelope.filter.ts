import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Response } from 'express';
import { requestIdOf } from '../http/request-info.js';
import { isDatabaseUnavailable, violatedConstraint } from './error-info.js';
import { Failure, failures, type FieldMessages } from './failures.js';

class FailErrors {
  @ApiProperty({ description: 'The HTTP status' })
  readonly code!: number;

  @ApiProperty()
  readonly message!: string;

  @ApiPropertyOptional({
    type: 'object',
    description: 'One message for each field that failed validation',
    additionalProperties: { type: 'string' },
  })
  readonly details?: FieldMessages | undefined;
}

/** Body of every failing response (contract 2.4). */
export class FailEnvelope {
  @ApiProperty({ enum: ['fail'] })
  readonly status!: 'fail';

  @ApiProperty()
  readonly errors!: FailErrors;
}

export function toFailEnvelope({ status, message, details }: Failure): FailEnvelope {
  return { status: 'fail', errors: { code: status, message, details } };
}

/** Sends a failure. Failures of public routes, and of requests that `AccessGuard` has not allowed, have no `Cache-Control` yet. */
export function sendFailure(response: Response, failure: Failure): void {
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'private, no-cache');
  response.status(failure.status).json(toFailEnvelope(failure));
}

/** Failures for errors with these statuses that Nest, Express or a body parser raise. Any other 4xx is a malformed request. */
const FAILURES_BY_STATUS: Readonly<Record<number, () => Failure>> = {
  404: failures.notFound,
  412: failures.changedMeanwhile,
  413: failures.tooLarge,
  415: failures.unsupportedEncoding,
};

/** Turns anything thrown into a response. Message and stack of an unexpected error appear only in the log. */
@Catch()
export class FailEnvelopeFilter implements ExceptionFilter {
  readonly #logger = new Logger('Failure');

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const failure = toFailure(thrown);
    // A 503 is a warning, because no service is ready in the first moment after its start.
    const level = failure.status === 503 ? 'warn' : 'error';
    if (failure.status >= 500)
      this.#logger[level](failure.cause ?? failure, { requestId: requestIdOf(response) });
    // `rejectOnSocket` has already written a response, for example 408 for a slow body. Do not write another one.
    if (response.socket?.writableEnded === true) return;
    // A cut connection tells the client that the response is incomplete.
    if (response.headersSent) response.destroy();
    else sendFailure(response, failure);
  }
}

function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (violatedConstraint(thrown) === 'users_email_key') return failures.emailTaken();
  if (isDatabaseUnavailable(thrown)) return failures.unavailable(thrown);
  // Nest's exceptions and the errors of body parsers have a `status`.
  const status = thrown instanceof Error && 'status' in thrown ? Number(thrown.status) : 500;
  return status < 500
    ? (FAILURES_BY_STATUS[status] ?? failures.malformedRequest)()
    : failures.unexpected(thrown);
}
