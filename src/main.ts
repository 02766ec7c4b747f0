import { errorMessage } from './common/errors/error-info.js';

async function main(): Promise<void> {
  const stop = new AbortController();
  // First, because loading the modules takes up to a second.
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      stop.abort(signal);
    });
  const { readEnv } = await import('./config/read-env.js');
  const env = readEnv();
  // Tracing must start before the modules that it instruments are loaded, so no import above may load them.
  const stopTracing = env.isTraced ? (await import('./tracing/start.js')).startTracing(env) : undefined;
  const { serve } = await import('./serve.js');
  await serve(env, stop.signal, stopTracing);
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exit(1);
});
