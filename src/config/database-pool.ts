import type { DataSource } from 'typeorm';

/** What `pg` says of a pool of connections. */
export interface PoolState {
  readonly options: { readonly max: number };
  readonly totalCount: number;
  readonly idleCount: number;
  /** Who waits for a connection. */
  readonly waitingCount: number;
}

/** The pool of an initialised data source. */
export function poolOf(dataSource: DataSource): PoolState {
  // TypeORM's type for its driver does not know the pool.
  return (dataSource.driver as unknown as { readonly master: PoolState }).master;
}
