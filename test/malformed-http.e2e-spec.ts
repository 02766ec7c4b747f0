import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';
import { sendRaw, type RawAnswer } from './support/raw-http.js';
import { startService, type TestService } from './support/service.js';

const HOST = 'Host: bakery.test\r\n';
const CLOSE = 'Connection: close\r\n';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

function expectRefusal(answer: RawAnswer | undefined, status: number, message: string): void {
  expect(answer?.status).toBe(status);
  expect(JSON.parse(answer?.body ?? '')).toEqual({ status: 'fail', errors: { code: status, message } });
  expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer?.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  expect(answer?.headers).not.toHaveProperty('x-powered-by');
}

describe('what is no HTTP request', () => {
  it.each([
    ['rubbish', 'rubbish\r\n\r\n'],
    ['a TLS greeting', Buffer.from('16030100f6010000f20303', 'hex')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', `BAKE /api/users HTTP/1.1\r\n${HOST}\r\n`],
    ['a header without a colon', `GET /api/users HTTP/1.1\r\n${HOST}no colon\r\n\r\n`],
    ['a space before the colon', `GET /api/users HTTP/1.1\r\n${HOST}Cookie : a\r\n\r\n`],
    ['a NUL in a header', `GET /api/users HTTP/1.1\r\n${HOST}X-A: a\0b\r\n\r\n`],
    [
      'two lengths (request smuggling)',
      `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    ],
    [
      'a length and chunks (request smuggling)',
      `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    ['a negative length', `POST /api/login HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
  ])('decisions, Answers: %s is answered 400 in the fail envelope', async (_what, bytes) => {
    const answers = await sendRaw(service.url, bytes);
    expect(answers).toHaveLength(1);
    expectRefusal(answers[0], 400, 'malformed request');
  });

  it('decisions, Answers: headers over the limit are 431', async () => {
    const answers = await sendRaw(
      service.url,
      `GET /api/users HTTP/1.1\r\n${HOST}Cookie: accessToken=${'x'.repeat(20_000)}\r\n\r\n`,
    );
    expectRefusal(answers[0], 431, 'request headers are too large');
  });

  it('decisions, Answers: an HTTP/1.1 request without Host is 400', async () => {
    const [answer] = await sendRaw(service.url, `GET /api/users HTTP/1.1\r\n${CLOSE}\r\n`);
    expectRefusal(answer, 400, 'malformed request');
  });

  it('decisions, Answers: HTTP/1.0 needs no Host', async () => {
    const [answer] = await sendRaw(service.url, 'GET /api/users HTTP/1.0\r\n\r\n');
    expectRefusal(answer, 401, 'access token missing or expired');
  });

  it('decisions, Answers: an expectation that nobody knows is ignored', async () => {
    const [answer] = await sendRaw(
      service.url,
      `GET /api/users HTTP/1.1\r\n${HOST}${CLOSE}Expect: cake\r\n\r\n`,
    );
    expectRefusal(answer, 401, 'access token missing or expired');
  });

  it('decisions, Answers: a broken chunk is 400 and the service goes on', async () => {
    const answers = await sendRaw(
      service.url,
      `POST /api/login HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    );
    expect(answers).toHaveLength(1);
    expectRefusal(answers[0], 400, 'malformed request');
    await service.client().get('/api/health/live').expect(200);
  });

  it('decisions, Answers: one after a good request on the same connection is answered as well', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (headers: Record<string, string>) => {
      const [answer] = (await once(httpGet(`${service.url}/api/users`, { agent, headers }), 'response')) as [
        IncomingMessage,
      ];
      return { port: answer.socket.localPort, status: answer.statusCode, body: await json(answer) };
    };
    try {
      const good = await ask({});
      const overflow = await ask({ Cookie: `accessToken=${'x'.repeat(20_000)}` });
      expect(good.status).toBe(401);
      expect(overflow.port).toBe(good.port);
      expect(overflow).toMatchObject({ status: 431, body: { status: 'fail', errors: { code: 431 } } });
    } finally {
      agent.destroy();
    }
  });

  it('decisions, Answers: requests in a row on one connection are each answered, in order', async () => {
    const answers = await sendRaw(
      service.url,
      `GET /api/users HTTP/1.1\r\n${HOST}\r\nGET /nothing HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    );
    expect(answers.map(({ status }) => status)).toEqual([401, 404]);
  });
});
