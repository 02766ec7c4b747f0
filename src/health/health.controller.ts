import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  HealthCheckService,
  type HealthCheckResult,
  HealthIndicatorService,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
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
    // One after the other: without a database the rest need not be asked.
    return this.health.check([
      () => this.database.pingCheck('database', { timeout: DATABASE_DEADLINE_MS }),
      async () => this.#indicate('migrations', !(await this.dataSource.showMigrations())),
      () => this.#indicate('queue', this.jobs.isWorking),
      () => this.eventLoop.check(),
    ]);
  }

  #indicate(name: string, isUp: boolean) {
    const indicator = this.indicators.check(name);
    return isUp ? indicator.up() : indicator.down();
  }
}
