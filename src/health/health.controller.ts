import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { failures } from '../common/errors.js';
import { assertWritable, READ_WRITE_STATE, type WriteState } from '../config/database.js';
import { queryMigrationStatus } from '../config/migrate.js';
import { JobsService } from '../jobs/jobs.service.js';

const DATABASE_DEADLINE_MS = 2000;

/** Liveness and readiness for a supervisor or a proxy. */
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
    failures: [['database'], ['migrations'], ['queue'], ['database', 'queue'], ['migrations', 'queue']].map(
      (parts) => failures.notReady(parts),
    ),
  })
  async ready(): Promise<Record<string, never>> {
    const late = delay(DATABASE_DEADLINE_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no response within ${DATABASE_DEADLINE_MS} ms`);
    });
    const problems: [part: string, reason: string][] = await Promise.race([
      this.#pendingMigrations(),
      late,
    ]).then(
      (pending) => (pending.length > 0 ? [['migrations', 'one has not run']] : []),
      (error: unknown) => [['database', error instanceof Error ? error.message : String(error)]],
    );
    if (!this.jobs.queue.isWorking) problems.push(['queue', 'it fetches no jobs at the moment']);
    if (problems.length === 0) return {};
    throw failures.notReady(
      problems.map(([part]) => part),
      `not ready: ${problems.map(([part, reason]) => `${part} (${reason})`).join(', ')}`,
    );
  }

  /** @throws Error if the database is unavailable, read-only or a standby */
  async #pendingMigrations(): Promise<readonly string[]> {
    assertWritable(await this.dataSource.query<WriteState[]>(READ_WRITE_STATE));
    return (await queryMigrationStatus(this.dataSource)).pending;
  }
}
