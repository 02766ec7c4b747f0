import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';
import { stopAfterUse } from './stop-after-use.js';

/** Span as exported in the JSON of OTLP, with its attributes by name. */
export interface CollectedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

type OtlpAttributes = readonly {
  readonly key: string;
  /** Contains one property, which is named after the type of the value, for example `boolValue`. */
  readonly value: Readonly<Record<string, string | number | boolean>>;
}[];

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes'> & {
        readonly attributes: OtlpAttributes;
      })[];
    }[];
  }[];
}

/** Starts an OpenTelemetry collector on loopback that receives OTLP over HTTP as JSON. */
export async function startOtlpCollector() {
  const spans: CollectedSpan[] = [];
  let raw = '';
  const server = createServer((request, response) => {
    json(request).then(
      (body) => {
        raw += JSON.stringify(body);
        const received = (body as OtlpRequest).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
        for (const { attributes, ...span } of received.flatMap((scope) => scope.spans))
          spans.push({ ...span, attributes: toRecord(attributes) });
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      },
      () => response.destroy(),
    );
  });
  const sockets = trackSockets(server);
  const port = await stopAfterUse(listenOnLoopback(server), () => stopListening(server, sockets));
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    /** Returns the bodies of all requests in one text. */
    raw: () => raw,
  };
}

function toRecord(attributes: OtlpAttributes): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value).join()]));
}
