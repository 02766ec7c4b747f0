import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { errorMessage } from '../common/errors/error-info.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { assertWritable, WRITE_STATE_QUERY, type WriteState } from '../database/database.js';
import { readMigrationStatus } from '../database/migrate.js';
import { JobsService } from '../jobs/jobs.service.js';

const DATABASE_DEADLINE_MS = 2000;

@ApiTags('Operation')
@Controller('health')
export class HealthController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
  ) {}

  @ApiEndpoint({
    summary: 'Check that the process responds',
    access: 'public',
    success: { status: 200, data: {} },
  })
  @Get('live')
  live(): Record<string, never> {
    return {};
  }

  @ApiEndpoint({
    summary: 'Check that the service is ready: database, migrations, queue',
    access: 'public',
    success: { status: 200, data: {} },
    failures: [['database'], ['migrations'], ['queue'], ['database', 'queue'], ['migrations', 'queue']].map(
      (parts) => failures.notReady(parts),
    ),
  })
  @Get('ready')
  async ready(): Promise<Record<string, never>> {
    const problems = new Map<string, string>();
    const deadline = delay(DATABASE_DEADLINE_MS, null, { ref: false });
    try {
      const pending = await Promise.race([this.#findPendingMigrations(), deadline]);
      if (pending === null) problems.set('database', `no response within ${DATABASE_DEADLINE_MS} ms`);
      else if (pending.length > 0) problems.set('migrations', 'not all have run');
    } catch (error) {
      problems.set('database', errorMessage(error));
    }
    if (!this.jobs.queue.isWorking) problems.set('queue', 'it fetches no jobs at the moment');
    if (problems.size === 0) return {};
    const reasons = [...problems].map(([part, reason]) => `${part} (${reason})`);
    throw failures.notReady([...problems.keys()], `not ready: ${reasons.join(', ')}`);
  }

  /**
   * Returns the migrations that have not run.
   * @throws Error if the database is unavailable, read-only or a standby
   */
  async #findPendingMigrations(): Promise<readonly string[]> {
    assertWritable(await this.dataSource.query<WriteState[]>(WRITE_STATE_QUERY));
    return (await readMigrationStatus(this.dataSource)).pending;
  }
}
