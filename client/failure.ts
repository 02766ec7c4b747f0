/** Fail envelope (contract 2.4). */
interface FailEnvelope {
  readonly status: 'fail';
  readonly errors: {
    readonly code: number;
    readonly message: string;
    readonly details?: Readonly<Record<string, string>>;
  };
}

/** Result of a call of the client. */
interface Result {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** Type of the body of a successful call, undefined for a response without a body. */
type BodyOf<R extends Result> = Extract<R, { error?: never }>['data'];

/** Type of `data` in the success envelope of a call. A body without an envelope, such as CSV, keeps its type. */
type DataOf<R extends Result> = BodyOf<R> extends { data: infer Data } ? Data : BodyOf<R>;

/** Error for a failed call. */
export class BakeryFailure extends Error {
  override readonly name = 'BakeryFailure';

  constructor(
    /** HTTP status. */
    readonly code: number,
    message: string,
    /** Messages of a validation failure by field name. */
    readonly details: Readonly<Record<string, string>> = {},
    /** Id of the request in the service's log. */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/**
 * Returns `data` of the envelope of a successful call, or a body without an envelope as it is.
 *
 * @throws BakeryFailure if the service or a proxy returns a failure
 * @throws the error of the `fetch` function if there is no response, usually a TypeError
 */
export async function dataOf<R extends Result>(call: Promise<R>): Promise<DataOf<R>> {
  const { data, error, response } = await call;
  if (!response.ok) throw toFailure(error, response);
  return (isObject(data) && 'data' in data ? data.data : data) as DataOf<R>;
}

function toFailure(error: unknown, response: Response): BakeryFailure {
  const requestId = response.headers.get('X-Request-Id');
  if (isFailEnvelope(error)) {
    const { code, message, details } = error.errors;
    return new BakeryFailure(code, message, details, requestId);
  }
  // Not an envelope, for example the error page of a proxy.
  return new BakeryFailure(response.status, `the response has status ${response.status}`, {}, requestId);
}

function isFailEnvelope(value: unknown): value is FailEnvelope {
  return isObject(value) && isObject(value.errors) && typeof value.errors.message === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
