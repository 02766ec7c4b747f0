import { Injectable, type OnModuleInit } from '@nestjs/common';
import { JobsService } from '../jobs/jobs.service.js';
import { AttemptCounts } from './attempt-counts.js';
import { SessionsService } from './sessions.service.js';

const REMOVE_EXPIRED_SESSIONS = 'remove-expired-sessions';
const SWEEP_ATTEMPT_COUNTS = 'sweep-attempt-counts';
const HOURLY = '17 * * * *';

/**
 * Jobs that remove expired sessions and counts. `SessionsService` must not need the queue, which the command `admin` does
 * not have.
 */
@Injectable()
export class Cleanup implements OnModuleInit {
  constructor(
    private readonly jobs: JobsService,
    private readonly sessions: SessionsService,
    private readonly counts: AttemptCounts,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(REMOVE_EXPIRED_SESSIONS, () => this.sessions.removeExpired());
    this.jobs.repeat(REMOVE_EXPIRED_SESSIONS, HOURLY);
    this.jobs.handle(SWEEP_ATTEMPT_COUNTS, () => this.counts.removeExpired());
    this.jobs.repeat(SWEEP_ATTEMPT_COUNTS, HOURLY);
  }
}
