import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { registry } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { addJobsMetrics } from './jobs.metrics.js';
import { addPoolMetrics } from './pool.metrics.js';

const SECOND = 1000;
const PATH = '/metrics';
/** Prometheus sends some hundred bytes and at once. */
const SERVER_OPTIONS = {
  headersTimeout: 5 * SECOND,
  requestTimeout: 5 * SECOND,
  connectionsCheckingInterval: SECOND,
  maxHeaderSize: 8 * 1024,
} as const;

/** `/metrics` on a port of its own, which clients do not reach. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('Metrics');
  readonly #server = createServer(SERVER_OPTIONS, (request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      this.#logger.error('the metrics could not be collected', error);
      response.destroy();
    });
  });

  readonly #registry: Registry;

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
    this.#registry = Registry.merge([registry, sampled]);
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

  async #answer({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    const isAsked = url?.split('?', 1)[0] === PATH && (method === 'GET' || method === 'HEAD');
    if (!isAsked) {
      response.writeHead(404).end();
      return;
    }
    const text = await this.#registry.metrics();
    response.writeHead(200, { 'Content-Type': this.#registry.contentType });
    response.end(text);
  }
}
