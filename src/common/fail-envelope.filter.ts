import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Response } from 'express';
import { isDatabaseUnavailable, violatedConstraint } from './database-errors.js';
import { constraintFailures, Failure, failures, type FieldMessages } from './errors.js';
import { requestIdOf } from './request-id.js';

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

/** The body of every failing answer (contract 2.4). */
export class FailEnvelope {
  @ApiProperty({ enum: ['fail'] })
  readonly status!: 'fail';

  @ApiProperty()
  readonly errors!: FailErrors;
}

export function failEnvelope({ code, message, details }: Failure): FailEnvelope {
  return { status: 'fail', errors: { code, message, details } };
}

/** The status that Nest, Express or a library of theirs gave a request that it refused; 500 for any other failure. */
function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return thrown instanceof Error && 'status' in thrown ? Number(thrown.status) : 500;
}

/** What it means that Nest, Express or a body parser gave a request a status below 500; others: `malformed request`. */
const REFUSALS: Readonly<Record<number, () => Failure>> = {
  404: failures.notFound,
  413: failures.tooLarge,
  415: failures.unsupportedEncoding,
};

/**
 * The one place where anything thrown becomes an answer. What is not known to be safe for a client becomes
 * "something went wrong" and goes to the log instead.
 */
@Catch()
export class FailEnvelopeFilter implements ExceptionFilter {
  readonly #logger = new Logger('Failure');

  catch(thrown: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const failure = toFailure(thrown);
    if (failure.code >= 500)
      this.#logger[failure.level](failure.cause ?? failure, { requestId: requestIdOf(response) });
    // Half an answer is out: cutting the connection is the only way left to say that it is not whole.
    if (response.headersSent) response.destroy();
    else response.status(failure.code).json(failEnvelope(failure));
  }
}

function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  const ofConstraint = constraintFailures[violatedConstraint(thrown) ?? ''];
  if (ofConstraint !== undefined) return ofConstraint();
  if (isDatabaseUnavailable(thrown)) return failures.unavailable(thrown);
  const status = statusOf(thrown);
  return status < 500 ? (REFUSALS[status] ?? failures.malformedRequest)() : failures.unexpected(thrown);
}
