import { createServer } from 'node:net';
import { DataSource } from 'typeorm';
import { importBuilt } from './support/built.js';
import { listenOnLoopback, stopListening, trackSockets } from './support/loopback.js';
import { stopAfterUse } from './support/stop-after-use.js';

const { dataSourceOptions } = await importBuilt('src/database/data-source.js');

it('a connection that is lost before TypeORM listens for its errors does not end the process', async () => {
  // Messages of PostgreSQL: AuthenticationOk, ReadyForQuery, and the ErrorResponse of a server that is shutting down.
  const [authenticated, ready] = [buildMessage('R', '\0\0\0\0'), buildMessage('Z', 'I')];
  const shutdown = buildMessage(
    'E',
    'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
  );
  const server = createServer((socket) => {
    // In one packet, so that the driver emits the error before any code that waits for the connection runs.
    socket.once('data', () => socket.end(Buffer.concat([authenticated, ready, shutdown])));
    socket.on('error', () => undefined);
  });
  const sockets = trackSockets(server);
  const port = await stopAfterUse(listenOnLoopback(server), () => stopListening(server, sockets));
  const dataSource = new DataSource(dataSourceOptions(`postgres://user@127.0.0.1:${port}/bakery`));
  await expect(dataSource.initialize()).rejects.toThrow('Client has encountered a connection error');
});

function buildMessage(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body, 'latin1')]);
}
