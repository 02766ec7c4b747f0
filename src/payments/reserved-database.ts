import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { poolOf, type PoolState } from '../config/database-pool.js';

const RESERVED_CONNECTIONS = 2;

/**
 * The database for payment notifications. The gateway gives up after 15 seconds and repeats a notification minutes
 * later: when slow reads hold every connection of the pool, it must not queue up behind them, so that there are
 * two more, for this alone.
 */
@Injectable()
export class ReservedDatabase implements OnModuleInit, OnApplicationShutdown {
  readonly #reserved: DataSource;

  constructor(private readonly dataSource: DataSource) {
    const options = dataSource.options as DataSource['options'] & { readonly type: 'postgres' };
    // The same entities and limits: only the pool is another.
    this.#reserved = new DataSource({ ...options, poolSize: RESERVED_CONNECTIONS, migrations: [] });
  }

  async onModuleInit(): Promise<void> {
    await this.#reserved.initialize();
  }

  /** After the last request is answered. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#reserved.isInitialized) await this.#reserved.destroy();
  }

  /** Of the common pool while that has a connection to give. */
  get manager(): EntityManager {
    return (this.#isPoolFull() ? this.#reserved : this.dataSource).manager;
  }

  /** How the reserve does. */
  get pool(): PoolState {
    return poolOf(this.#reserved);
  }

  #isPoolFull(): boolean {
    const pool = poolOf(this.dataSource);
    return pool.idleCount === 0 && pool.totalCount >= pool.options.max;
  }
}
