import { Logger } from '@nestjs/common';
import type { Job } from 'graphile-worker';
import { freeJobs, type LockedBy, markDead, type Queryable, removeSuperseded } from './job-table.js';

/** A job that has been locked for so long belongs to a process that died: it is past its deadline. */
const DEAD_PROCESS_S = 45;

/** Jobs that are not tried any more, and jobs of processes that died. A dead job has one line in the log. */
export class DeadJobs {
  readonly #logger = new Logger('Jobs');
  /** Jobs that failed for good, by id, until they are dead in the database as well. */
  readonly #givenUp = new Map<string, { readonly job: Job; readonly reason: string }>();

  constructor(private readonly database: Queryable) {}

  /** Gives up a job that runs, once it has failed. */
  giveUp(job: Job, reason: string): void {
    this.#givenUp.set(job.id, { job, reason });
  }

  /** Frees jobs for another try, but for those that have none left. */
  async free(lockedBy: LockedBy): Promise<void> {
    for (const { id, task } of await freeJobs(this.database, lockedBy))
      this.#report(id, task, 'its process died');
  }

  /** To be repeated, at least every two seconds: the shortest gap between two tries is 2.7. */
  async care(): Promise<void> {
    await this.free({ lockedForSeconds: DEAD_PROCESS_S });
    await removeSuperseded(this.database);
    for (const [id, { job, reason }] of this.#givenUp) {
      const state = await markDead(this.database, id, job.attempts);
      // A running job cannot be changed: its failure has not been written down yet.
      if (state === 'running') continue;
      this.#givenUp.delete(id);
      if (state === 'dead') this.#report(id, job.task_identifier, reason);
    }
  }

  #report(id: string, task: string, reason: string): void {
    this.#logger.error(`dead job ${id} (${task}): ${reason}; see npm run jobs -- list --state dead`);
  }
}
