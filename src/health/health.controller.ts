import { Controller, Get } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  type HealthCheckResult,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { ApiTags } from '@nestjs/swagger';
import { ApiEndpoint } from '../common/openapi.decorators.js';
import { Public } from '../common/public.decorator.js';

const DATABASE_DEADLINE_MS = 2000;

/** What a supervisor asks: is the process alive, and may it be sent requests. */
@ApiTags('Operation')
@Public(true)
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  @Get('live')
  @ApiEndpoint({ summary: 'The process answers', access: 'none', success: { status: 200, data: {} } })
  live(): Record<string, never> {
    return {};
  }

  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  @ApiEndpoint({ summary: 'The service can do its work', access: 'none', success: { status: 200, data: {} } })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.database.pingCheck('database', { timeout: DATABASE_DEADLINE_MS })]);
  }
}
