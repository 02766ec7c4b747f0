import type { Socket } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';

/** A message that the server has accepted. */
export interface ReceivedMail {
  /** Address of the From header, without the name. */
  readonly from: string;
  /** Addresses of the To header, without names. */
  readonly to: readonly string[];
  /** Addresses that the client named for delivery (RCPT TO). */
  readonly recipients: readonly string[];
  readonly subject: string;
  /** Empty if there is no text part. */
  readonly text: string;
  /** Empty if there is no HTML part. */
  readonly html: string;
  readonly raw: Buffer;
}

interface Waiter {
  readonly predicate: (mail: ReceivedMail) => boolean;
  readonly resolve: (mail: ReceivedMail) => void;
  readonly reject: (error: Error) => void;
}

/** An SMTP server on loopback that keeps what it accepts and fails on demand. Plain text, no login. */
export class SmtpStandIn {
  /** In order of acceptance. */
  readonly mails: ReceivedMail[] = [];
  /** Messages begun (MAIL FROM), refused ones included. */
  attempts = 0;

  private server: SMTPServer | undefined;
  private sockets = new Set<Socket>();
  private readonly waiters = new Set<Waiter>();
  private readonly rejected = new Set<string>();
  private hanging = false;
  private hangsAfterData = false;

  /** @param port 0 for any free one */
  static async start(port = 0): Promise<SmtpStandIn> {
    const standIn = new SmtpStandIn(port);
    await standIn.up();
    return standIn;
  }

  private constructor(private port: number) {}

  /** The SMTP_URL with which a client finds this server. */
  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** Refuses this recipient for good (550), whatever the case of its letters. */
  rejectRecipient(address: string): void {
    this.rejected.add(address.toLowerCase());
  }

  /** Ends `rejectRecipient`. */
  acceptRecipient(address: string): void {
    this.rejected.delete(address.toLowerCase());
  }

  /** Accepts new connections, but never greets them. */
  hang(): void {
    this.hanging = true;
  }

  /** Takes messages in, but neither keeps nor answers them. */
  hangAfterData(): void {
    this.hangsAfterData = true;
  }

  /** Connections open now. */
  get openConnections(): number {
    return this.sockets.size;
  }

  /** Ends `hang` and `hangAfterData`: their connections are cut, new ones are served. */
  resume(): void {
    this.hanging = false;
    this.hangsAfterData = false;
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * The first mail, received already or yet to come, for which the predicate holds.
   * @throws Error after the deadline (milliseconds), naming what was received instead
   */
  async waitForMail(predicate: (mail: ReceivedMail) => boolean, deadlineMs = 10_000): Promise<ReceivedMail> {
    const received = this.mails.find(predicate);
    if (received !== undefined) return received;
    let timer: NodeJS.Timeout | undefined;
    let waiter: Waiter | undefined;
    try {
      return await new Promise((resolve, reject) => {
        waiter = { predicate, resolve, reject };
        this.waiters.add(waiter);
        timer = setTimeout(() => {
          const received = this.mails.map(({ to, subject }) => `"${subject}" to ${to.join(', ')}`);
          reject(
            new Error(`no such mail within ${deadlineMs} ms; received: ${received.join('; ') || 'none'}`),
          );
        }, deadlineMs);
      });
    } finally {
      clearTimeout(timer);
      if (waiter !== undefined) this.waiters.delete(waiter);
    }
  }

  /** Listens, after `down` on the same port. */
  async up(): Promise<void> {
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      logger: false,
      onConnect: (_session, callback) => {
        if (!this.hanging) callback();
      },
      onMailFrom: (_address, _session, callback) => {
        this.attempts += 1;
        callback();
      },
      onRcptTo: ({ address }, _session, callback) => {
        callback(this.rejected.has(address.toLowerCase()) ? answer(550, 'No such mailbox') : null);
      },
      onData: (stream, session, callback) => {
        if (this.hangsAfterData) {
          stream.resume();
          return;
        }
        this.receive(stream, session).then(
          () => {
            callback();
          },
          () => {
            callback(answer(554, 'The message could not be read'));
          },
        );
      },
    });
    // A client that hangs up in the middle is reported here; without a listener it would end the process.
    server.on('error', () => undefined);
    this.sockets = trackSockets(server.server);
    this.server = server;
    this.port = await listenOnLoopback(server.server, this.port);
  }

  /** Cuts every connection and refuses new ones. What was received stays. */
  async down(): Promise<void> {
    if (this.server !== undefined) await stopListening(this.server.server, this.sockets);
    this.server = undefined;
  }

  async close(): Promise<void> {
    await this.down();
    for (const { reject } of this.waiters) reject(new Error('the SMTP stand-in was closed'));
  }

  private async receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const parsed = await PostalMime.parse(raw);
    const mail: ReceivedMail = {
      from: parsed.from?.address ?? '',
      to: (parsed.to ?? []).flatMap(({ address }) => address ?? []),
      recipients: session.envelope.rcptTo.map(({ address }) => address),
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      html: parsed.html ?? '',
      raw,
    };
    this.mails.push(mail);
    for (const { predicate, resolve } of this.waiters) if (predicate(mail)) resolve(mail);
  }
}

function answer(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
