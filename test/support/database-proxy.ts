import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A TCP proxy in front of the database, to take it away from one service and give it back. */
export class DatabaseProxy {
  readonly #sockets = new Set<Socket>();
  #server = createServer();
  #port = 0;
  #isStalled = false;
  #stallsAt: { readonly text: string; readonly stalled: () => void } | undefined;

  private constructor(private readonly target: URL) {}

  static async start(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(new URL(databaseUrl));
    await proxy.up();
    return proxy;
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Accepts connections, on the same port as before. */
  async up(): Promise<void> {
    this.#isStalled = false;
    this.#server = createServer((client) => {
      this.#forward(client);
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections and cuts those that are open. */
  async down(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Lets nothing through any more, without cutting anything: a network that swallows packets. */
  stall(): void {
    this.#isStalled = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Stalls as soon as a client sends a text. @returns fulfilled then */
  stallAt(text: string): Promise<void> {
    return new Promise((stalled) => {
      this.#stallsAt = { text, stalled };
    });
  }

  /** Serves new connections again; those of before stay silent, as after a failover. */
  failOver(): void {
    this.#isStalled = false;
  }

  #forward(client: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('data', (chunk: Buffer) => {
        if (socket === client && this.#stallsAt && chunk.includes(this.#stallsAt.text)) {
          this.stall();
          this.#stallsAt.stalled();
        } else other.write(chunk);
      });
      // A reset is one of the ways in which a connection ends here.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      if (this.#isStalled) socket.pause();
    }
  }
}
