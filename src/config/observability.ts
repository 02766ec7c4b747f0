import type { SettingsReader } from './settings-reader.js';

/** Where traces go, OTLP over HTTP; the SDK reads the other OTEL_ variables by itself. */
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
 * Whether to trace, by OpenTelemetry's own variables. The SDK takes a bad one for unset and says so where nobody
 * looks, so they are validated here.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function tracing(settings: SettingsReader): TracingSetting | undefined {
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].map((name) =>
    settings.url(name, ['http:', 'https:']),
  );
  settings.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  settings.fraction('OTEL_TRACES_SAMPLER_ARG');
  const isDisabled = settings.optional('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (isDisabled || endpoints.every((endpoint) => endpoint === undefined)) return undefined;
  return { serviceName: settings.text('OTEL_SERVICE_NAME', 'bakery-catalog-service') };
}
