/**
 * Sends independent statements of one transaction in one round trip (`pipeline` in config/data-source.ts). PostgreSQL
 * executes them in the given order and skips the rest after a failure.
 */
export async function pipelined(...statements: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(statements);
}
