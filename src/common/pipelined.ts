/**
 * Waits for independent statements of one transaction. The driver sends all of them in one round trip (see `pipeline` in
 * config/data-source.ts). PostgreSQL executes them in the given order and skips the rest after a failure.
 */
export async function pipelined(...statements: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(statements);
}
