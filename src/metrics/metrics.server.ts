import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { registry } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { sampleJobs, samplePool } from './samples.js';

/** `/metrics` on a port of its own, which clients do not reach. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('Metrics');
  readonly #server = createServer(({ url }, response) => {
    if (url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    this.#collect().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      (error: unknown) => {
        this.#logger.error('the metrics could not be collected', error);
        response.destroy();
      },
    );
  });

  constructor(
    private readonly env: Env,
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
  ) {}

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

  async #collect(): Promise<string> {
    await sampleJobs(this.jobs);
    // TypeORM's type for its driver does not know the pool.
    const { master } = this.dataSource.driver as unknown as { readonly master: Pool };
    samplePool('requests', master);
    samplePool('jobs', this.jobs.pool);
    return await registry.metrics();
  }
}
