import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { failures } from '../common/errors.js';
import { statusOf } from '../config/migrate.js';
import { JobsService } from '../jobs/jobs.service.js';

const DATABASE_DEADLINE_MS = 2000;

/** What a supervisor asks: is the process alive, and may it be sent requests. */
@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
  ) {}

  @Get('live')
  @ApiEndpoint({ summary: 'The process answers', access: 'none', success: { status: 200, data: {} } })
  live(): Record<string, never> {
    return {};
  }

  @Get('ready')
  @ApiEndpoint({
    summary: 'The service can do its work: database, migrations, queue',
    access: 'none',
    success: { status: 200, data: {} },
    failures: [failures.notReady(['database', 'queue'])],
  })
  async ready(): Promise<Record<string, never>> {
    const problems = await this.#schemaProblems();
    if (!this.jobs.isWorking) problems.push(['queue', 'it takes no jobs at the moment']);
    if (problems.length === 0) return {};
    const reasons = problems.map(([part, reason]) => `${part} (${reason})`).join(', ');
    throw failures.notReady(
      problems.map(([part]) => part),
      `not ready: ${reasons}`,
    );
  }

  /** What the database answers in time, as pairs of a part and the reason why it is not ready. */
  async #schemaProblems(): Promise<[string, string][]> {
    try {
      const status = await Promise.race([
        statusOf(this.dataSource),
        delay(DATABASE_DEADLINE_MS, null, { ref: false }),
      ]);
      if (status === null) return [['database', `no answer within ${DATABASE_DEADLINE_MS} ms`]];
      return status.pending.length > 0 ? [['migrations', 'one has not run']] : [];
    } catch (error) {
      return [['database', error instanceof Error ? error.message : String(error)]];
    }
  }
}
