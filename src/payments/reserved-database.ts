import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { poolOf, type PoolState } from '../config/database-pool.js';

/** They are busy for a millisecond or two each time: four take what one process can receive. */
const RESERVED_CONNECTIONS = 4;

/**
 * The database for payment notifications. The gateway gives up after 15 seconds and repeats a notification minutes
 * later: when slow reads hold every connection of the pool, it must not queue up behind them, so that there are
 * a few more, for this alone.
 */
@Injectable()
export class ReservedDatabase implements OnModuleInit, OnApplicationShutdown {
  readonly #reserved: DataSource;

  constructor(dataSource: DataSource) {
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

  get manager(): EntityManager {
    return this.#reserved.manager;
  }

  /** How the reserve does. */
  get pool(): PoolState {
    return poolOf(this.#reserved);
  }
}
