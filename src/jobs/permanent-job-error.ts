/** Prefix that marks a job's last error as permanent: the job is not retried. */
export const PERMANENT = 'permanent: ';

/** Thrown by a handler when no retry can succeed. The job becomes dead without a retry. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';

  constructor(reason: string) {
    super(PERMANENT + reason);
  }
}
