import { Injectable, type OnModuleInit } from '@nestjs/common';
import { JobsService } from '../jobs/jobs.service.js';
import { SessionsService } from './sessions.service.js';

const REMOVE_EXPIRED_SESSIONS = 'remove-expired-sessions';
const HOURLY = '17 * * * *';

/** Job that removes expired sessions. The command `admin` needs `SessionsService` without the job queue. */
@Injectable()
export class SessionsCleanup implements OnModuleInit {
  constructor(
    private readonly jobs: JobsService,
    private readonly sessions: SessionsService,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(REMOVE_EXPIRED_SESSIONS, () => this.sessions.removeExpired());
    this.jobs.repeat(REMOVE_EXPIRED_SESSIONS, HOURLY);
  }
}
