import type { DataSource, Logger } from 'typeorm';
import type { TestService } from './service.js';

/** Records the SQL statements about products during an action. Background jobs never query products. */
export async function recordProductStatements(
  { app }: TestService,
  act: () => PromiseLike<unknown>,
): Promise<readonly string[]> {
  // The service's own copy of TypeORM: in another copy, DataSource is another injection token.
  const typeorm = (await importBuilt('../node_modules/typeorm/index.mjs')) as typeof import('typeorm');
  const dataSource: DataSource = app.get(typeorm.DataSource);
  const statements: string[] = [];
  const keep = (statement: string): void => {
    if (/\bproducts\b/.test(statement)) statements.push(statement);
  };
  const { logger } = dataSource;
  dataSource.logger = new Proxy(logger, {
    get: (target, name: keyof Logger) => (name === 'logQuery' ? keep : target[name].bind(target)),
  });
  try {
    await act();
  } finally {
    dataSource.logger = logger;
  }
  return statements;
}
