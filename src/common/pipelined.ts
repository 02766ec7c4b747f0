/**
 * Runs independent statements of one transaction in one round trip. pg sends them together (`pipeline` in
 * config/data-source.ts). PostgreSQL executes them in the given order and skips the rest after a failure.
 */
export async function pipelined(...statements: readonly Promise<unknown>[]): Promise<void> {
  await Promise.all(statements);
}
