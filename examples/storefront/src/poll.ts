const SHORTEST_MS = 2_000;
const LONGEST_MS = 15_000;
const GROWTH = 1.15;

/**
 * Asks again and again, with growing gaps, until there is nothing more to wait for or the signal aborts. Asks at once
 * when the person comes back to the tab, or the browser online: that is when news is likely.
 *
 * @param ask resolves to whether to go on; a rejection counts as yes
 */
export function poll(signal: AbortSignal, ask: () => Promise<boolean>): void {
  let gap = SHORTEST_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);

  const turn = async (): Promise<void> => {
    if (isAsking || until.aborted) return;
    isAsking = true;
    clearTimeout(timer);
    try {
      if (!(await ask())) ended.abort();
    } catch {
      // The next turn may have more luck; the page shows what is known until then.
    }
    isAsking = false;
    gap = Math.min(gap * GROWTH, LONGEST_MS);
    plan();
  };
  const plan = (): void => {
    if (!until.aborted) timer = setTimeout(() => void turn(), gap);
  };
  const hurry = (): void => {
    if (document.hidden) return;
    gap = SHORTEST_MS;
    void turn();
  };
  document.addEventListener('visibilitychange', hurry, { signal: until });
  window.addEventListener('focus', hurry, { signal: until });
  window.addEventListener('online', hurry, { signal: until });
  until.addEventListener('abort', () => {
    clearTimeout(timer);
  });
  plan();
}
