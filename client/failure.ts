/** The fail envelope (contract 2.4), as far as all failures have it in common. */
interface FailEnvelope {
  readonly status: 'fail';
  readonly errors: {
    readonly code: number;
    readonly message: string;
    readonly details?: Readonly<Record<string, string>>;
  };
}

/** What a call of the client resolves to. */
interface Result {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** `data` of the success envelope of a call; undefined for an answer without a body. */
type DataOf<R extends Result> = Extract<R, { error?: never }>['data'] extends { data: infer Data }
  ? Data
  : undefined;

/** A failed call, as an error. */
export class BakeryFailure extends Error {
  override readonly name = 'BakeryFailure';

  constructor(
    /** HTTP status. */
    readonly code: number,
    message: string,
    /** Messages by field name, for a validation failure. */
    readonly details: Readonly<Record<string, string>> = {},
    /** Id of the request in the service's log. */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/**
 * `data` of a successful call.
 *
 * @throws BakeryFailure when the answer is a failure, of the service or of a proxy
 * @throws TypeError when there is no answer
 */
export async function dataOf<R extends Result>(call: Promise<R>): Promise<DataOf<R>> {
  const { data, error, response } = await call;
  if (!response.ok) throw failureOf(error, response);
  return (isObject(data) ? data.data : undefined) as DataOf<R>;
}

function failureOf(error: unknown, response: Response): BakeryFailure {
  const requestId = response.headers.get('X-Request-Id');
  if (isFailEnvelope(error)) {
    const { code, message, details } = error.errors;
    return new BakeryFailure(code, message, details, requestId);
  }
  // For example the error page of a proxy.
  return new BakeryFailure(response.status, `the answer was ${response.status}`, {}, requestId);
}

function isFailEnvelope(value: unknown): value is FailEnvelope {
  return isObject(value) && isObject(value.errors) && typeof value.errors.message === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
