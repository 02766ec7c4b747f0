import type { Pool, PoolClient } from 'pg';
import { type EntityManager, QueryFailedError } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

/** A statement that a connection parses and plans once. Its name belongs to its text alone, in the whole service. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}

/**
 * Runs a statement past TypeORM, whose `query` cannot name one and costs as much again as the driver: in the
 * manager's transaction or, outside of one, by itself on a connection of the same pool, time-outs included.
 *
 * @throws QueryFailedError, as TypeORM's own statements do
 */
export async function queryNamed<Row extends object>(
  manager: EntityManager,
  statement: NamedStatement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { dataSource, queryRunner } = manager;
  dataSource.logger.logQuery(statement.text, [...values], queryRunner);
  try {
    const connection =
      queryRunner === undefined
        ? ((dataSource.driver as PostgresDriver).master as Pool)
        : ((await queryRunner.connect()) as PoolClient);
    return (await connection.query<Row>({ ...statement, values: [...values] })).rows;
  } catch (error) {
    if (error instanceof Error) throw new QueryFailedError(statement.text, [...values], error);
    throw error;
  }
}
