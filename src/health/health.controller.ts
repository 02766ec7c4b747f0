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
    const late = delay(DATABASE_DEADLINE_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${DATABASE_DEADLINE_MS} ms`);
    });
    const status = Promise.race([statusOf(this.dataSource), late]);
    const problems: [part: string, reason: string][] = await status.then(
      ({ pending }) => (pending.length > 0 ? [['migrations', 'one has not run']] : []),
      (error: unknown) => [['database', error instanceof Error ? error.message : String(error)]],
    );
    if (!this.jobs.isWorking) problems.push(['queue', 'it takes no jobs at the moment']);
    if (problems.length === 0) return {};
    throw failures.notReady(
      problems.map(([part]) => part),
      `not ready: ${problems.map(([part, reason]) => `${part} (${reason})`).join(', ')}`,
    );
  }
}
