import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  HealthCheckService,
  type HealthCheckResult,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ApiEndpoint } from '../common/openapi.decorators.js';
import { Public } from '../common/public.decorator.js';
import { failures } from '../common/errors.js';
import { JobsService } from '../jobs/jobs.service.js';
import { EventLoopIndicator } from './event-loop.indicator.js';

const DATABASE_DEADLINE_MS = 2000;

/** What a supervisor asks: is the process alive, and may it be sent requests. */
@ApiTags('Operation')
@Public(true)
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly eventLoop: EventLoopIndicator,
  ) {}

  @Get('live')
  @ApiEndpoint({ summary: 'The process answers', access: 'none', success: { status: 200, data: {} } })
  live(): Record<string, never> {
    return {};
  }

  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiEndpoint({
    summary: 'The service can do its work: database, migrations, queue, event loop',
    access: 'none',
    success: { status: 200, data: {} },
    failures: [failures.unavailable()],
  })
  ready(): Promise<HealthCheckResult> {
    // All at once, each within its own deadline.
    return this.health.check([
      () => this.database.pingCheck('database', { timeout: DATABASE_DEADLINE_MS }),
      async () => this.#indicate('migrations', await this.#isMigrated()),
      () => this.#indicate('queue', this.jobs.isWorking),
      () => this.eventLoop.check(),
    ]);
  }

  /** False also when the database does not say so in time: a full pool would have us wait for 5 seconds. */
  async #isMigrated(): Promise<boolean> {
    const answered = new AbortController();
    const giveUp = delay(DATABASE_DEADLINE_MS, true, { signal: answered.signal }).catch(() => true);
    try {
      return !(await Promise.race([this.dataSource.showMigrations(), giveUp]));
    } finally {
      answered.abort();
    }
  }

  #indicate(name: string, isUp: boolean) {
    const indicator = this.indicators.check(name);
    return isUp ? indicator.up() : indicator.down();
  }
}
