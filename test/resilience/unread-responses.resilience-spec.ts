import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { noisyPng } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';

const MIB = 1024 * 1024;
/** Growth that a client can cause with connections that it does not read. */
const MAX_GROWTH_MIB = 100;
/** 20 seconds without reading, one second between two checks, and a margin for a busy machine. */
const DISCONNECT_MS = 30_000;

describe('clients that never read', () => {
  let service: ServiceProcess;
  let idleMib: number;

  beforeAll(async () => {
    service = await startServiceProcess({ LOG_LEVEL: 'error' });
    await service.client().get('/api/docs-json').expect(200);
    idleMib = await service.residentMiB();
  });

  afterAll(() => service.stop());

  /** Sends the requests on new connections. @returns the growth of the memory until all connections are closed */
  async function occupy(connections: number, requests: string): Promise<number> {
    const sockets = Array.from({ length: connections }, (): Socket => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(requests);
      return socket;
    });
    let maxMib = 0;
    try {
      await until(
        'the service has closed the connections',
        async () => {
          maxMib = Math.max(maxMib, await service.residentMiB());
          await delay(100);
          // A paused socket does not notice its end, but a write to a closed connection fails.
          for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n');
          return sockets.every(({ destroyed }) => destroyed);
        },
        DISCONNECT_MS,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
      process.stdout.write(`${connections} connections: ${idleMib.toFixed()} to ${maxMib.toFixed()} MiB\n`);
    }
    return maxMib - idleMib;
  }

  it('occupy little memory with 600 pipelined requests on each of three connections', async () => {
    const requests = 'GET /api/docs-json HTTP/1.1\r\nHost: bakery.test\r\n\r\n'.repeat(600);
    expect(await occupy(3, requests)).toBeLessThan(MAX_GROWTH_MIB);
  });

  it('occupy little memory with 60 image downloads and are disconnected', async () => {
    const admin = await service.admin();
    const product = await createProduct(admin, [{ bytes: noisyPng(5 * MIB), name: 'cake.png' }]);
    const { pathname } = new URL(product.images[0] ?? '');
    const requests = `GET ${pathname} HTTP/1.1\r\nHost: bakery.test\r\n\r\n`.repeat(3);
    expect(await occupy(60, requests)).toBeLessThan(MAX_GROWTH_MIB);
  });
});
