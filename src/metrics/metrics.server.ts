import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { registry } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { addJobsMetrics } from './jobs.metrics.js';
import { addPoolMetrics } from './pool.metrics.js';

/** `/metrics` on a port of its own, which clients do not reach. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('Metrics');
  readonly #server: Server;

  constructor(
    private readonly env: Env,
    dataSource: DataSource,
    jobs: JobsService,
  ) {
    const sampled = new Registry();
    // Node's own: event loop, memory, garbage collection.
    collectDefaultMetrics({ register: sampled });
    // TypeORM's type for its driver does not know the pool.
    const { master: requests } = dataSource.driver as unknown as { readonly master: Pool };
    addPoolMetrics(sampled, { requests, jobs: jobs.pool });
    addJobsMetrics(sampled, jobs);
    this.#server = this.#serve(Registry.merge([registry, sampled]));
  }

  /** @throws Error when the port is taken, which ends the start */
  async onApplicationBootstrap(): Promise<void> {
    this.#server.listen(this.env.metricsPort, this.env.host);
    await once(this.#server, 'listening');
  }

  /** After everything else, so that metrics can be read during the stop. */
  onApplicationShutdown(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(all: Registry): Server {
    return createServer(({ url }, response) => {
      if (url?.split('?', 1)[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      all.metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': all.contentType }).end(text),
        (error: unknown) => {
          this.#logger.error('the metrics could not be collected', error);
          response.destroy();
        },
      );
    });
  }
}
