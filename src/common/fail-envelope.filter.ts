import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Response } from 'express';
import { isDatabaseUnavailable, violatedConstraint } from './database-errors.js';
import { constraintFailures, Failure, failures, type FieldMessages } from './errors.js';

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
  readonly details?: FieldMessages;
}

/** The body of every failing answer (contract 2.4). */
export class FailEnvelope {
  @ApiProperty({ enum: ['fail'] })
  readonly status!: 'fail';

  @ApiProperty()
  readonly errors!: FailErrors;
}

export function failEnvelope(failure: Failure): FailEnvelope {
  const { code, message, details } = failure;
  return { status: 'fail', errors: { code, message, ...(details !== undefined && { details }) } };
}

/** Hands everything that a route, guard, pipe or interceptor throws to `answerFailure`. */
@Catch()
export class FailEnvelopeFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    answerFailure(thrown, host.switchToHttp().getResponse<Response>());
  }
}

const logger = new Logger('Failure');

/**
 * The one place where anything thrown becomes an answer. What is not known to be safe for a client becomes
 * "something went wrong" and goes to the log instead.
 */
export function answerFailure(thrown: unknown, response: Response): void {
  const failure = toFailure(thrown);
  if (failure.code >= 500) logger[failure.level](failure.cause ?? failure);
  if (response.headersSent) {
    // Half an answer is out: cutting the connection is the only way left to say that it is not whole.
    response.destroy();
    return;
  }
  response.status(failure.code).json(failEnvelope(failure));
}

/** What a client is told of anything that was thrown. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const constraint = violatedConstraint(thrown);
  const ofConstraint = constraint === undefined ? undefined : constraintFailures[constraint];
  if (ofConstraint !== undefined) return ofConstraint();
  if (isDatabaseUnavailable(thrown)) return failures.unavailable(thrown);
  return ofStatus(statusOf(thrown)) ?? failures.unexpected(thrown);
}

/** The status that Nest, Express or a body parser (`http-errors`) gave a request that it refused. */
function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  if (thrown instanceof URIError) return 400;
  if (thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number')
    return thrown.status;
  return undefined;
}

function ofStatus(status: number | undefined): Failure | undefined {
  switch (status) {
    case 404:
    case 405:
      return failures.notFound();
    case 413:
      return failures.tooLarge();
    case 415:
      return failures.unsupportedEncoding();
    case 503:
      return failures.unavailable();
    default:
      return status !== undefined && status >= 400 && status < 500 ? failures.malformedRequest() : undefined;
  }
}
