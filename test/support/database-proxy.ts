import { connect, createServer, type Socket } from 'node:net';
import { createDatabase } from './databases.js';
import { listenOnLoopback, stopListening } from './loopback.js';
import { useService } from './service.js';
import { startServer, stopAfterUse } from './stop-after-use.js';

/** TCP proxy between one service and its database. Tests use it to make the database unavailable to the service. */
export class DatabaseProxy {
  readonly #server = createServer((client) => {
    this.#forward(client);
  });
  /**
   * Chunks that the service has sent so far and that begin with a statement, oldest first. A chunk can contain several statements:
   * the service pipelines them.
   */
  readonly statementChunks: string[] = [];
  /** Connections of the service, and those to its database. */
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #isStalled = false;
  #lossTrigger: string | undefined;

  private constructor(private readonly target: URL) {}

  static start(databaseUrl: string): Promise<DatabaseProxy> {
    return startServer(new DatabaseProxy(new URL(databaseUrl)));
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Listens again after `down`, on the same port. A stall from before `down` has ended. */
  async up(): Promise<void> {
    this.#isStalled = false;
    this.#port = await listenOnLoopback(this.#server, this.#port);
  }

  /** Rejects new connections and closes open ones. */
  async down(): Promise<void> {
    await stopListening(this.#server, this.#sockets);
  }

  /** Forwards no more data but closes no connection, like a network that loses packets. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /**
   * Loses the response to the next message that contains a text: the server receives the message, and the connection is
   * closed as soon as the server responds.
   */
  loseResponseTo(text: string): void {
    this.#lossTrigger = text;
  }

  /** Ends a stall for new connections. Earlier connections stay silent, as after a failover. */
  failOver(): void {
    this.#isStalled = false;
  }

  #forward(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    client.on('data', (chunk: Buffer) => {
      this.#handleChunk(chunk, client, server);
    });
    server.on('data', (chunk: Buffer) => client.write(chunk));
    for (const [socket, other] of [[client, server] as const, [server, client] as const]) {
      this.#sockets.add(socket);
      // Without a listener, a reset of the connection would end the process.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      if (this.#isStalled) socket.pause();
    }
  }

  /** Records and forwards a chunk from the service. */
  #handleChunk(chunk: Buffer, client: Socket, server: Socket): void {
    const text = chunk.toString('latin1');
    // The first byte is the type of the first message: Q (Query) or P (Parse).
    if (/^[QP]/.test(text)) this.statementChunks.push(text);
    if (this.#lossTrigger && chunk.includes(this.#lossTrigger)) {
      this.#lossTrigger = undefined;
      server.removeAllListeners('data').once('data', () => client.destroy()); // drops the response
    }
    server.write(chunk);
  }
}

/** Starts a service that reaches its database through a proxy. */
export async function useServiceBehindProxy(settings: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  const proxy = await DatabaseProxy.start(database.url);
  const service = await useService({ database, databaseUrl: proxy.url, settings });
  // Close stalled connections first: the service waits without a timeout until the queue's connections are closed.
  return stopAfterUse({ ...service, proxy }, () => proxy.down());
}
