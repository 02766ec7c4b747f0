import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
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
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { type Failure, failures } from '../common/errors.js';
import { JobsService } from '../jobs/jobs.service.js';

const DATABASE_DEADLINE_MS = 2000;

/** What a supervisor asks: is the process alive, and may it be sent requests. */
@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
  ) {}

  @Get('live')
  @ApiEndpoint({ summary: 'The process answers', access: 'none', success: { status: 200, data: {} } })
  live(): Record<string, never> {
    return {};
  }

  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiEndpoint({
    summary: 'The service can do its work: database, migrations, queue',
    access: 'none',
    success: { status: 200, data: {} },
    failures: [failures.notReady(['database', 'queue'])],
  })
  async ready(): Promise<HealthCheckResult> {
    try {
      // All at once, each within its own deadline.
      return await this.health.check([
        () => this.database.pingCheck('database', { timeout: DATABASE_DEADLINE_MS }),
        async () => this.#indicate('migrations', await this.#isMigrated(), 'one has not run'),
        () => this.#indicate('queue', this.jobs.isWorking, 'it takes no jobs at the moment'),
      ]);
    } catch (error) {
      throw error instanceof ServiceUnavailableException ? notReady(error) : error;
    }
  }

  /** True also when the database does not say so in time: `database` tells that. */
  async #isMigrated(): Promise<boolean> {
    const answered = new AbortController();
    const giveUp = delay(DATABASE_DEADLINE_MS, false, { signal: answered.signal }).catch(() => false);
    try {
      return !(await Promise.race([this.dataSource.showMigrations(), giveUp]));
    } catch {
      return true;
    } finally {
      answered.abort();
    }
  }

  #indicate(name: string, isUp: boolean, reason: string) {
    const indicator = this.indicators.check(name);
    return isUp ? indicator.up() : indicator.down(reason);
  }
}

/** Names the parts that are down; the reasons are for the log alone. */
function notReady(exception: ServiceUnavailableException): Failure {
  const { error = {} } = exception.getResponse() as HealthCheckResult;
  const reasons = Object.entries(error).map(([part, result]) => {
    const reason: unknown = result?.message;
    return `${part} (${typeof reason === 'string' ? reason : 'down'})`;
  });
  return failures.notReady(Object.keys(error), `not ready: ${reasons.join(', ')}`);
}
