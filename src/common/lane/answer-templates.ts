import type { ClientRequest, ServerResponse } from 'node:http';

/** Node's own answers have the method; its types name it for requests alone. */
type RawNames = Pick<ClientRequest, 'getRawHeaderNames'>;

/** Headers of an answer as names and values in turn. */
type Headers = readonly string[];

/** What differs from answer to answer, by the name of its header in small letters. */
type Fields = Readonly<Record<string, string>>;

/** Most origins whose headers are kept: those of a shop's storefronts, and not what strangers make up. */
const MOST_ORIGINS = 64;
/** What an answer without a body does not say (RFC 9110 section 15.4.5). */
const OF_BODIES = new Set(['content-type', 'content-length']);

/** The headers with which the pipeline answers one route, by the request's `Origin`. */
export class AnswerTemplates {
  readonly #byOrigin = new Map<string, Headers>();

  /** @param differing names, in small letters, of the headers that each answer of the route has its own of */
  constructor(private readonly differing: readonly string[]) {}

  has(origin: string): boolean {
    return this.#byOrigin.has(origin);
  }

  /** Keeps the headers with which the pipeline is about to answer, if all is well. */
  learn(origin: string, response: ServerResponse): void {
    response.once('finish', () => {
      // One that sets a cookie is meant for its caller alone.
      if (response.statusCode !== 200 || response.hasHeader('set-cookie')) return;
      if (this.differing.some((name) => !response.hasHeader(name))) return;
      const headers = (response as ServerResponse & RawNames)
        .getRawHeaderNames()
        .flatMap((name) => [name, String(response.getHeader(name))]);
      const [oldest] = this.#byOrigin.size >= MOST_ORIGINS ? this.#byOrigin.keys() : [];
      if (oldest !== undefined) this.#byOrigin.delete(oldest);
      this.#byOrigin.set(origin, headers);
    });
  }

  /** The headers of an answer. @param hasBody false for one that leaves its body out, a 304 */
  headersOf(origin: string, fields: Fields, hasBody: boolean): string[] {
    const headers: string[] = [];
    const template = this.#byOrigin.get(origin) ?? [];
    for (let index = 0; index < template.length; index += 2) {
      const name = template[index] ?? '';
      const key = name.toLowerCase();
      if (hasBody || !OF_BODIES.has(key)) headers.push(name, fields[key] ?? template[index + 1] ?? '');
    }
    return headers;
  }
}
