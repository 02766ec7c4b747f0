import type { SettingsReader } from './settings-reader.js';

/** Traces are wanted. Where they go, and the other OTEL_ variables, the SDK reads by itself. */
export interface TracingSetting {
  readonly serviceName: string;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export function metricsPort(settings: SettingsReader, port: number): number | undefined {
  if (settings.optional('METRICS_PORT') === undefined) return undefined;
  const metricsPort = settings.integer('METRICS_PORT', 0, 1, 65_535);
  if (metricsPort === port)
    settings.bad('METRICS_PORT', 'must differ from PORT: metrics are not for clients');
  return metricsPort;
}

/**
 * Whether to trace, by OpenTelemetry's own variables. The SDK ignores a bad one without a clear
 * message, so they are validated here.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function tracing(settings: SettingsReader): TracingSetting | undefined {
  const endpoint = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const ofTraces = settings.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']);
  settings.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  settings.fraction('OTEL_TRACES_SAMPLER_ARG');
  const isDisabled = settings.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (isDisabled || (endpoint ?? ofTraces) === undefined) return undefined;
  return { serviceName: settings.text('OTEL_SERVICE_NAME', 'bakery-catalog-service') };
}
