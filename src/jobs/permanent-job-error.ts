/**
 * A handler throws it for what no repetition can mend, such as an address that does not exist: the job is given up at
 * once and waits for an operator (`npm run jobs`).
 */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}
