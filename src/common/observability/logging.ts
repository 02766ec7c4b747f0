import { format } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { type DestinationStream, type Level, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty, { type PrettyOptions } from 'pino-pretty';
import { errorMessage } from '../errors/error-info.js';

const READABLE: PrettyOptions = {
  sync: true,
  singleLine: true,
  ignore: 'context',
  messageFormat: '{if context}[{context}] {end}{msg}',
};

/** Creates the logger: JSON lines, or readable lines in development. With tracing, each line has the ids of its span. */
export function createLogger(
  env: { readonly logLevel: string; readonly nodeEnv: string },
  destination: DestinationStream = env.nodeEnv === 'development'
    ? pretty(READABLE)
    : pino.destination({ sync: true }),
): Logger {
  return pino(
    {
      level: env.logLevel,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const span = trace.getActiveSpan()?.spanContext();
        return { trace_id: span?.traceId, span_id: span?.spanId };
      },
      serializers: { err: serializeError },
    },
    destination,
  );
}

/** Selects the properties to log. Other properties may contain the parameters of a statement or the headers of a request. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error))
    return { message: 'a value that is not an error was thrown', type: typeof error };
  const { name: type, stack, cause } = error;
  const code = 'code' in error && ['string', 'number'].includes(typeof error.code) ? error.code : undefined;
  return {
    type,
    message: errorMessage(error),
    code,
    stack,
    cause: cause === undefined ? undefined : serializeError(cause),
  };
}

/** Redirects the console to the logger, because graphile-worker prints a stack when its connection is cut. */
export function redirectConsole(logger: Logger): void {
  for (const method of ['debug', 'log', 'info', 'warn', 'error'] as const) {
    console[method] = (...values: unknown[]) => {
      const err = values.find((value) => value instanceof Error);
      const text = format(...values.map((value) => (value instanceof Error ? errorMessage(value) : value)));
      logger[method === 'log' ? 'info' : method]({ context: 'Console', err }, text);
    };
  }
}

/** Parts of Nest whose lines get the level debug. They list every module and route, or log errors that they also throw. */
const CHATTY_CONTEXTS =
  /^(NestFactory|InstanceLoader|RoutesResolver|RouterExplorer|ExceptionHandler|NestApplication)$/;

export function createNestLogger(logger: Logger): LoggerService {
  // Nest passes the context last. A stack that precedes it as text is not logged: this service passes errors instead.
  const logAt =
    (level: Level) =>
    (message: unknown, ...rest: unknown[]): void => {
      const last = rest.at(-1);
      const context = typeof last === 'string' ? last : undefined;
      const err = [message, ...rest].find((value) => value instanceof Error);
      const fields = rest.find(
        (value): value is object | null => typeof value === 'object' && !(value instanceof Error),
      );
      const text = format(message instanceof Error ? errorMessage(message) : message);
      logger[CHATTY_CONTEXTS.test(context ?? '') ? 'debug' : level]({ ...fields, context, err }, text);
    };
  return {
    error: logAt('error'),
    warn: logAt('warn'),
    log: logAt('info'),
    debug: logAt('debug'),
    verbose: logAt('trace'),
  };
}
