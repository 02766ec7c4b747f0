import { once } from 'node:events';
import { createServer } from 'node:http';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool } from 'pg';
import { collectDefaultMetrics, register } from 'prom-client';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { errorMessage } from '../common/errors/error-info.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ProductsService } from '../products/products.service.js';
import { sampleBackups, samplePool, sampleProducts, sampleDatabaseAndQueue } from './samples.js';

/** Serves `/metrics` on a separate port, which the network must not expose to clients. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('Metrics');
  readonly #server = createServer(({ url }, response) => {
    if (url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    this.#collect().then(
      (text) => response.writeHead(200, { 'Content-Type': register.contentType }).end(text),
      (error: unknown) => {
        this.#logger.error('the metrics could not be collected', error);
        response.writeHead(500).end('the metrics could not be collected: see the log of the service\n');
      },
    );
  });

  constructor(
    private readonly env: Env,
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly products: ProductsService,
  ) {}

  /** `AppModule` imports the module only if METRICS_PORT is set. */
  async onApplicationBootstrap(): Promise<void> {
    const { metricsHost, metricsPort } = this.env;
    // Register the metrics of the event loop, memory and garbage collection once: tests start several services in one process.
    if (register.getSingleMetric('process_cpu_seconds_total') === undefined) collectDefaultMetrics();
    this.#server.listen(metricsPort, metricsHost);
    await once(this.#server, 'listening').catch((error: unknown) => {
      // A new error without a code: `retryUntilPrimary` would take EADDRNOTAVAIL for an unavailable database.
      throw new Error(
        `the metrics cannot be served on METRICS_HOST ${metricsHost} and METRICS_PORT ${metricsPort}: ${errorMessage(error)}`,
      );
    });
  }

  /** Nest's last shutdown hook, so that metrics can be read while the service stops. */
  onApplicationShutdown(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #collect(): Promise<string> {
    await Promise.all([
      sampleDatabaseAndQueue(this.jobs),
      sampleProducts(this.products),
      sampleBackups(this.env.backupDir),
    ]);
    samplePool('requests', (this.dataSource.driver as PostgresDriver).master as Pool);
    samplePool('jobs', this.jobs.queue.pool);
    return await register.metrics();
  }
}
