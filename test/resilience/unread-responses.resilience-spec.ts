import { createNoisyPng } from '../support/pictures.js';
import { createProduct } from '../support/products.js';
import { openSocket } from '../support/raw-http.js';
import { useServiceProcess } from '../support/service-process.js';
import { until } from '../support/wait.js';
import { measureMaximum } from './support/maximum.js';

const MIB = 1024 * 1024;
const MAX_GROWTH_MIB = 100;
/** The service measures the rate over a minute. The remaining 30 seconds are a margin for a busy machine. */
const DISCONNECT_LIMIT_MS = 90_000;

const service = await useServiceProcess({ LOG_LEVEL: 'error' });

it('clients that never read their responses are disconnected and occupy little memory', async () => {
  const admin = await service.admin();
  const product = await createProduct(admin, [{ bytes: createNoisyPng(5 * MIB), name: 'cake.png' }]);
  const { pathname } = new URL(product.images[0] ?? '');
  const idleMiB = await service.residentMiB();
  // The clients request 900 MiB in total.
  const sockets = Array.from({ length: 60 }, () => {
    const socket = openSocket(service.url);
    // More bytes than the operating system buffers for a connection.
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: bakery.test\r\n\r\n`.repeat(3));
    return socket;
  });
  const closed = until(
    'the service has closed the connections',
    () => {
      // A socket that reads nothing does not notice the end of its connection, but a write then fails.
      for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n');
      return sockets.every(({ destroyed }) => destroyed);
    },
    DISCONNECT_LIMIT_MS,
  );
  try {
    const maximumMiB = await measureMaximum(() => service.residentMiB(), closed);
    expect(maximumMiB - idleMiB).toBeLessThan(MAX_GROWTH_MIB);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
