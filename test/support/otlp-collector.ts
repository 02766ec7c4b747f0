import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';
import type { Socket } from 'node:net';

/** A span as OTLP's JSON has it, its attributes by name. */
export interface CollectedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly service: string;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string | number };
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'links' | 'service'> & {
        readonly attributes: readonly OtlpAttribute[];
        readonly links?: CollectedSpan['links'];
      })[];
    }[];
  }[];
}

/** An OpenTelemetry collector on loopback: OTLP over HTTP, in JSON. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** All that was ever received. */
  raw = '';
  #url = '';
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#url = `http://127.0.0.1:${await listenOnLoopback(collector.#server)}`;
    return collector;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      json(request).then(
        (body) => {
          this.raw += JSON.stringify(body);
          this.#receive(body as OtlpRequest);
          response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
        },
        () => response.destroy(),
      );
    });
    this.#sockets = trackSockets(this.#server);
  }

  get url(): string {
    return this.#url;
  }

  close(): Promise<void> {
    return stopListening(this.#server, this.#sockets);
  }

  #receive({ resourceSpans }: OtlpRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = byName(resource.attributes)['service.name'] ?? '';
      for (const { spans } of scopeSpans) {
        for (const { attributes, links = [], ...span } of spans)
          this.spans.push({ ...span, links, attributes: byName(attributes), service });
      }
    }
  }
}

function byName(attributes: readonly OtlpAttribute[]): Record<string, string | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue)]),
  );
}
