import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { noisyPng } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { useServiceProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';
import { measureMaximum } from './support/maximum.js';

const MIB = 1024 * 1024;
const MAX_GROWTH_MIB = 100;
/** The service measures the rate over a minute. The rest is a margin for a busy machine. */
const DISCONNECT_LIMIT_MS = 90_000;

const service = await useServiceProcess({ LOG_LEVEL: 'error' });

describe('clients that never read a response', () => {
  let idleMib: number;

  beforeAll(async () => {
    // The first request builds the document, whose memory does not count as growth.
    await service.client().get('/api/docs-json').expect(200);
    idleMib = await service.residentMiB();
  });

  /**
   * Sends requests on new connections, reads no response and waits until the service closes the connections.
   * @returns the largest growth of resident memory in MiB
   */
  async function measureGrowth(connections: number, requests: string): Promise<number> {
    const sockets = Array.from({ length: connections }, (): Socket => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(requests);
      return socket;
    });
    const closed = until(
      'the service has closed the connections',
      async () => {
        await delay(100);
        // A socket that reads nothing does not notice the end of its connection, but a write then fails.
        for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n');
        return sockets.every(({ destroyed }) => destroyed);
      },
      DISCONNECT_LIMIT_MS,
    );
    try {
      return (await measureMaximum(() => service.residentMiB(), closed)) - idleMib;
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  }

  it('are disconnected, and occupy little memory with 600 pipelined requests on each of three connections', async () => {
    const requests = 'GET /api/docs-json HTTP/1.1\r\nHost: bakery.test\r\n\r\n'.repeat(600);
    expect(await measureGrowth(3, requests)).toBeLessThan(MAX_GROWTH_MIB);
  });

  it('are disconnected, and occupy little memory with three image downloads on each of 60 connections', async () => {
    const admin = await service.admin();
    const product = await createProduct(admin, [{ bytes: noisyPng(5 * MIB), name: 'cake.png' }]);
    const { pathname } = new URL(product.images[0] ?? '');
    const requests = `GET ${pathname} HTTP/1.1\r\nHost: bakery.test\r\n\r\n`.repeat(3);
    expect(await measureGrowth(60, requests)).toBeLessThan(MAX_GROWTH_MIB);
  });
});
