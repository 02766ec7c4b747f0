import { loadDotEnv, readEnv } from './config/env.js';
import { SettingsError } from './config/settings-reader.js';

async function main(): Promise<void> {
  loadDotEnv();
  const env = readEnv();
  // What is traced must be loaded after tracing has started, hence nothing of the service is imported above.
  const tracing = env.tracing && (await import('./tracing/start.js')).startTracing(env.tracing);
  const { serve } = await import('./serve.js');
  await serve(env, tracing);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof SettingsError ? error.message : String(error)}\n`);
  process.exit(1);
});
