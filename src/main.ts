import { errorMessage } from './common/errors/error-info.js';
import { readEnv } from './config/read-env.js';

async function main(): Promise<void> {
  const stop = new AbortController();
  // Before the modules are loaded, which takes up to a second.
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      stop.abort(signal);
    });
  const env = readEnv();
  // Tracing must start before the modules that it instruments are loaded, so no import above may load them.
  const stopTracing = env.isTraced ? (await import('./tracing/start.js')).startTracing(env) : undefined;
  const { serve } = await import('./serve.js');
  await serve(env, stop, stopTracing);
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exit(1);
});
