import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';
import { type Mail, parseMail } from './mail.js';
import { startServer } from './stop-after-use.js';
import { until } from './wait.js';

/** Message that the server has accepted. */
export interface ReceivedMail extends Mail {
  /** Addresses that the client named for delivery (RCPT TO). */
  readonly recipients: readonly string[];
  readonly raw: Buffer;
}

/** SMTP server on loopback that stores accepted messages and fails on demand. No TLS, no login. */
export class SmtpStandIn {
  /** In order of acceptance. */
  readonly mails: ReceivedMail[] = [];
  /** Number of MAIL FROM commands, including those of rejected messages. */
  attempts = 0;
  /** Recipients that the server rejects permanently (550). */
  readonly rejectedRecipients = new Set<string>();

  #server: SMTPServer | undefined;
  #sockets = new Set<Socket>();
  #port = 0;
  #isHanging = false;

  static start(): Promise<SmtpStandIn> {
    return startServer(new SmtpStandIn());
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.#port}`;
  }

  /** Receives messages without storing or acknowledging them. */
  hang(): void {
    this.#isHanging = true;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** Ends `hang`: closes all connections and serves new ones normally. */
  resume(): void {
    this.#isHanging = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  waitForMail(predicate: (mail: ReceivedMail) => boolean): Promise<ReceivedMail> {
    return until('a mail', () => this.mails.find(predicate));
  }

  /** Starts listening. After `down`, the port stays the same. */
  async up(): Promise<void> {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onMailFrom: (_address, _session, callback) => {
        this.attempts += 1;
        callback();
      },
      onRcptTo: ({ address }, _session, callback) => {
        const rejection = Object.assign(new Error('No such mailbox'), { responseCode: 550 });
        callback(this.rejectedRecipients.has(address) ? rejection : null);
      },
      onData: (stream, session, callback) => {
        this.#receive(stream, session).then(() => {
          if (!this.#isHanging) callback();
        }, callback);
      },
    });
    // A client that disconnects causes an error event. Without a listener the event would end the process.
    server.on('error', () => undefined);
    this.#server = server;
    this.#sockets = trackSockets(server.server);
    this.#port = await listenOnLoopback(server.server, this.#port);
  }

  /** Closes all connections and rejects new ones. Received messages stay. */
  async down(): Promise<void> {
    if (this.#server !== undefined) await stopListening(this.#server.server, this.#sockets);
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const raw = await buffer(stream);
    if (this.#isHanging) return;
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    this.mails.push({ ...(await parseMail(raw)), recipients, raw });
  }
}
