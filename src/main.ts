import { readEnv } from './config/read-env.js';

async function main(): Promise<void> {
  const env = readEnv();
  // Tracing must start before the modules that it instruments are loaded, so only the settings are imported above.
  const stopTracing = env.isTraced ? (await import('./tracing/start.js')).startTracing(env) : undefined;
  const { serve } = await import('./serve.js');
  await serve(env, stopTracing);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
