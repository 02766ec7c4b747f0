import { Logger } from '@nestjs/common';
import { type NamedJob, RUNNER_LOST } from './job-table.js';

const logger = new Logger('Jobs');

/** Logs jobs that need an operator. */
export function logDeadJobs(jobs: readonly NamedJob[], reason = RUNNER_LOST): void {
  for (const { id, task } of jobs)
    logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
}
