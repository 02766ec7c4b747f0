import type { SpanContext } from '@opentelemetry/api';

/** Version 00, or a later one with more behind it. No id consists of zeros alone. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** @returns null for what is no traceparent */
export function parseTraceparent(text: string): SpanContext | null {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(text.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  if (version === '00' && rest !== undefined) return null;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}
