import type { DataSource, Logger } from 'typeorm';
import type { TestService } from './service.js';

/** The SQL statements that the service sends while something is done, those of its queue left out. */
export async function statementsOf(
  { app }: TestService,
  act: () => PromiseLike<unknown>,
): Promise<readonly string[]> {
  const typeorm = (await importBuilt('../node_modules/typeorm/index.mjs')) as typeof import('typeorm');
  const dataSource: DataSource = app.get(typeorm.DataSource);
  const statements: string[] = [];
  const { logger } = dataSource;
  dataSource.logger = new Proxy(logger, {
    get: (target, name: keyof Logger) =>
      name === 'logQuery'
        ? (statement: string) => void statements.push(statement)
        : target[name].bind(target),
  });
  try {
    await act();
  } finally {
    dataSource.logger = logger;
  }
  return statements;
}
