import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** Enough for hundreds of notifications a second, each a few milliseconds. */
const RESERVED_CONNECTIONS = 2;

/**
 * Connections for payment notifications alone. A notification that is not answered within 15 seconds is lost to the
 * gateway until it repeats it: when slow reads hold every connection of the pool it must not queue up behind them.
 */
@Injectable()
export class ReservedDatabase implements OnModuleInit, OnApplicationShutdown {
  readonly #reserved: DataSource;

  constructor(dataSource: DataSource) {
    // The same entities and limits: only the pool is another.
    this.#reserved = new DataSource({
      ...(dataSource.options as typeof dataSource.options & { readonly type: 'postgres' }),
      poolSize: RESERVED_CONNECTIONS,
      migrations: [],
    });
  }

  async onModuleInit(): Promise<void> {
    await this.#reserved.initialize();
  }

  /** After the last request is answered. */
  async onApplicationShutdown(): Promise<void> {
    if (this.#reserved.isInitialized) await this.#reserved.destroy();
  }

  transaction<T>(work: (tx: EntityManager) => Promise<T>): Promise<T> {
    return this.#reserved.transaction(work);
  }
}
