import { Module } from '@nestjs/common';
import { JobsModule } from '../jobs/jobs.module.js';
import { HealthController } from './health.controller.js';

@Module({ imports: [JobsModule], controllers: [HealthController] })
export class HealthModule {}
