/** Thrown by a handler when no retry can succeed. The job becomes dead without a retry. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}
