/** How the last error of a job begins that is to be dead, though it has tries left. */
export const PERMANENT = 'permanent: ';

/**
 * A handler throws it for what no repetition can mend, such as an address that does not exist: the job is dead at once
 * and waits for an operator (`npm run jobs`).
 */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';

  constructor(reason: string) {
    super(PERMANENT + reason);
  }
}
