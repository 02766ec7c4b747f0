import request, { type Response, type Test } from 'supertest';
import type { components } from '../../client/schema.js';
import type { HttpMethod } from './routes.js';

export type Registration = components['schemas']['RegisterDto'];

interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Values by name in lower case, such as `path` or `max-age`; empty for a name without a value, such as `httponly`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Client that stores cookies and sends each to its path. Like browsers on loopback, it sends Secure cookies over http. */
export class Client {
  readonly #cookies = new Map<string, Cookie>();

  constructor(readonly url: string) {}

  readonly get = (path: string) => this.#send('get', path);
  readonly post = (path: string) => this.#send('post', path);
  readonly put = (path: string) => this.#send('put', path);
  readonly patch = (path: string) => this.#send('patch', path);
  readonly delete = (path: string) => this.#send('delete', path);

  /** Registers an account, with defaults for missing fields. */
  register(fields: Partial<Registration> = {}): Test {
    const password = fields.password ?? 'correct horse battery staple';
    return this.post('/api/register').send({
      email: 'ayu@example.com',
      fullname: 'Ayu Lestari',
      password,
      passwordConfirmation: password,
      ...fields,
    });
  }

  cookie(name: string): string {
    const cookie = this.#cookies.get(name);
    if (cookie === undefined) throw new Error(`there is no cookie ${name}`);
    return cookie.value;
  }

  setCookie(name: string, value: string, path = '/'): this {
    this.#cookies.set(name, { name, value, attributes: { path } });
    return this;
  }

  /**
   * Returns another client with the same cookies.
   * @param url URL of another process of the service; by default, that of this client
   */
  clone(url = this.url): Client {
    const clone = new Client(url);
    for (const [name, cookie] of this.#cookies) clone.#cookies.set(name, cookie);
    return clone;
  }

  #send(method: HttpMethod, path: string): Test {
    const test = request(this.url)[method](path);
    const sent = [...this.#cookies.values()].filter(({ attributes }) =>
      path.startsWith(attributes.path ?? '/'),
    );
    if (sent.length > 0)
      void test.set('Cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    return test.on('response', (response: Response) => {
      for (const cookie of parseCookies(response)) {
        if (cookie.value === '') this.#cookies.delete(cookie.name);
        else this.#cookies.set(cookie.name, cookie);
      }
    });
  }
}

export function parseCookies(response: Response): Cookie[] {
  const headers = (response.headers['set-cookie'] as unknown as string[] | undefined) ?? [];
  return headers.map((header) => {
    const [pair = '', ...rest] = header.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const attributes = rest.map((attribute) => {
      const [key = '', text = ''] = attribute.split('=');
      return [key.toLowerCase(), text];
    });
    return { name, value, attributes: Object.fromEntries(attributes) as Cookie['attributes'] };
  });
}
