import { fork } from 'node:child_process';
import { join } from 'node:path';

/** Process of the load generator. */
export class Generator {
  #child;

  /** @param job {target, traffic: {kind, options}, url, connections, seconds}: see generator.mjs */
  async run(job) {
    this.#child ??= fork(join(import.meta.dirname, 'generator.mjs'));
    const child = this.#child;
    const { result, error } = await new Promise((resolve) => {
      const ended = () => resolve({ error: 'the load generator ended' });
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
      child.send(job);
    });
    if (error !== undefined) throw new Error(error);
    return result;
  }

  stop() {
    this.#child?.kill();
  }
}
