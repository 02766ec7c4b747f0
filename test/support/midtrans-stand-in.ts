import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';
import {
  changeAnswer,
  changeStatus,
  field,
  type MidtransOrder,
  type MidtransStatus,
  type MidtransTransaction,
  notificationOf,
  type NotificationFields,
  objectionsTo,
  statusAnswer,
  type StatusChange,
} from './midtrans-ledger.js';

export type { MidtransOrder, MidtransStatus, MidtransTransaction, NotificationFields, StatusChange };

export type MidtransOperation = 'create' | 'status' | 'cancel' | 'expire';

/**
 * What goes wrong with a call:
 * - `down`: the connection is cut as the request arrives, nothing is done · `hang`: never answered, nothing is done
 * - `error`: 500 with a JSON body, nothing is done · `answer`: answered as given, nothing is done
 * - `answer-lost`: done, but the connection is cut before an answer · `cut`: done, cut in the middle of the answer
 * - `drip`: done and answered a byte every `dripIntervalMs` · `garbage`: done, but answered 200 with a page of HTML
 * - `late`: done at once, answered after `afterMs`
 */
export type MidtransFault = {
  readonly operation: MidtransOperation;
  /** Which call of the operation it meets, counted from 1 when the fault is set; absent: every one. */
  readonly nth?: number;
} & (
  | { readonly kind: 'down' | 'hang' | 'error' | 'answer-lost' | 'cut' | 'drip' | 'garbage' }
  | { readonly kind: 'late'; readonly afterMs: number }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: string | object;
      readonly headers?: Readonly<Record<string, string>>;
    }
);

/** One call, in order of arrival. What a fault kept from being read stays null. */
export interface MidtransCallRecord {
  readonly operation: MidtransOperation;
  readonly fault: MidtransFault['kind'] | null;
  orderId: string | null;
  /** Whether it came with the server key and no password. */
  authorized: boolean | null;
  /** Parsed JSON; undefined when there was none. */
  body: unknown;
  /** HTTP status answered; null while there is none. */
  status: number | null;
}

export interface MidtransStandInOptions {
  readonly serverKey?: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Time given to a notification's receiver, like the real gateway's. */
const NOTIFY_TIMEOUT_MS = 15_000;
const CAN_BECOME: Record<'cancel' | 'expire', readonly MidtransStatus[]> = {
  cancel: ['pending', 'authorize', 'capture'],
  expire: ['pending'],
};

/**
 * Midtrans on loopback: Snap's `POST /transactions`, the Core API's `status`, `cancel` and `expire`, and signed
 * notifications, all in the real shapes. Stricter than the real one, it also insists on items, the customer's
 * e-mail address and both expiries. It signs by itself rather than with the service's code.
 *
 * @see https://docs.midtrans.com/reference/backend-integration
 */
export class MidtransStandIn {
  readonly serverKey: string;
  /** What was created, by order id. */
  readonly orders = new Map<string, MidtransOrder>();
  readonly calls: MidtransCallRecord[] = [];
  dripIntervalMs = 1_000;
  /** Whether answers of the Core API name the transaction id as `order_id`, as real ones can. */
  answersTransactionIdAsOrderId = false;
  /** Whether the Core API's HTTP status is the body's code (the real one mostly answers 200). */
  httpStatusFollowsCode = false;
  /** Awaited when a call was read and before anything is done: a race test lets other things happen here. */
  beforeProcessing: ((call: MidtransCallRecord) => Promise<void> | void) | undefined;
  /** Awaited when a call was processed and before it is answered. */
  beforeAnswering: ((call: MidtransCallRecord) => Promise<void> | void) | undefined;
  /** Connections accepted since the start. */
  acceptedConnections = 0;
  /** Calls that are neither answered to the end nor given up by the caller. */
  callsInProgress = 0;

  private readonly server: Server;
  private readonly sockets: Set<Socket>;
  private port = 0;
  private faults: { fault: MidtransFault; seen: number }[] = [];

  static async start(options: MidtransStandInOptions = {}): Promise<MidtransStandIn> {
    const standIn = new MidtransStandIn(options);
    standIn.port = await listenOnLoopback(standIn.server);
    return standIn;
  }

  private constructor({ serverKey = 'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U' }: MidtransStandInOptions) {
    this.serverKey = serverKey;
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        // A defect of the stand-in, or a caller that hung up while its request was read.
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    this.sockets = trackSockets(this.server);
    this.server.on('connection', () => (this.acceptedConnections += 1));
  }

  /** MIDTRANS_SNAP_URL */
  get snapUrl(): string {
    return `${this.apiUrl}/snap/v1`;
  }

  /** MIDTRANS_API_URL */
  get apiUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections open now. */
  get openConnections(): number {
    return this.sockets.size;
  }

  /** The calls of one operation, in order of arrival. */
  callsOf(operation: MidtransOperation): MidtransCallRecord[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  /** Opens an order id without a call. @throws Error if it was used before */
  open(orderId: string, grossAmount: number, request: unknown = null): MidtransOrder {
    if (this.orders.has(orderId)) throw new Error(`order id ${orderId} has already been taken`);
    const order = { orderId, token: randomUUID(), request, grossAmount, transactions: [] };
    this.orders.set(orderId, order);
    return order;
  }

  /** @throws Error for an order id that was never opened */
  order(orderId: string): MidtransOrder {
    const order = this.orders.get(orderId);
    if (order === undefined) throw new Error(`unknown order id ${orderId}`);
    return order;
  }

  /** The customer pays. Nothing is sent: see `notify`. */
  settle(orderId: string, change: StatusChange = {}): MidtransTransaction {
    return this.setStatus(orderId, 'settlement', change);
  }

  /** Whatever happens to a payment, allowed or not; the first call chooses the method. Nothing is sent. */
  setStatus(orderId: string, status: MidtransStatus, change: StatusChange = {}): MidtransTransaction {
    return changeStatus(this.order(orderId), status, change);
  }

  /**
   * A signed notification of the last transaction's state. Overrides are signed too, `signature_key` is taken as
   * it is, and a field overridden with undefined is left out of the JSON.
   */
  notification(orderId: string, overrides: NotificationFields = {}): NotificationFields {
    const order = this.order(orderId);
    const transaction = order.transactions.at(-1);
    if (transaction === undefined) throw new Error(`no payment method was chosen for ${orderId}`);
    return notificationOf(order, transaction, this.serverKey, overrides);
  }

  /** Sends what `notification` makes, once. @throws Error if there is no answer */
  async notify(
    url: string,
    orderId: string,
    overrides?: NotificationFields,
  ): Promise<{ status: number; text: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', 'User-Agent': 'Veritrans' },
      body: JSON.stringify(this.notification(orderId, overrides)),
      redirect: 'manual',
      signal: AbortSignal.timeout(NOTIFY_TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  }

  /** Several faults may be set; a call meets the first that is due. */
  fault(fault: MidtransFault): void {
    this.faults.push({ fault, seen: 0 });
  }

  clearFaults(): void {
    this.faults = [];
  }

  /** Cuts every connection and refuses new ones. */
  async down(): Promise<void> {
    await stopListening(this.server, this.sockets);
  }

  /** Listens again on the same port. */
  async up(): Promise<void> {
    await listenOnLoopback(this.server, this.port);
  }

  async close(): Promise<void> {
    await this.down();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(request);
    if (target === null) {
      send(
        response,
        json(404, { status_code: '404', status_message: 'The requested resource is not found' }),
      );
      return;
    }
    const { operation, orderId } = target;
    const fault = this.takeFault(operation);
    const call: MidtransCallRecord = {
      operation,
      fault: fault?.kind ?? null,
      orderId,
      authorized: null,
      body: undefined,
      status: null,
    };
    this.calls.push(call);
    this.callsInProgress += 1;
    response.once('close', () => (this.callsInProgress -= 1));
    response.once('finish', () => (call.status = response.statusCode));
    if (fault?.kind === 'down') {
      request.socket.destroy();
      return;
    }
    const text = await readBody(request);
    call.body = parse(text);
    call.orderId ??= stringOrNull(field(field(call.body, 'transaction_details'), 'order_id'));
    const expected = `Basic ${Buffer.from(`${this.serverKey}:`).toString('base64')}`;
    call.authorized = request.headers.authorization === expected;
    if (fault?.kind === 'hang') return;

    await this.beforeProcessing?.(call);
    const answer = given(fault) ?? this.perform(call, request.headers['content-type']);
    await this.beforeAnswering?.(call);
    this.answer(response, answer, fault);
  }

  private takeFault(operation: MidtransOperation): MidtransFault | undefined {
    const concerned = this.faults.filter(({ fault }) => fault.operation === operation);
    for (const entry of concerned) entry.seen += 1;
    return concerned.find(({ fault, seen }) => fault.nth === undefined || fault.nth === seen)?.fault;
  }

  private perform(call: MidtransCallRecord, contentType: string | undefined): Answer {
    return call.operation === 'create' ? this.create(call, contentType) : this.api(call, call.operation);
  }

  private create({ authorized, body, orderId }: MidtransCallRecord, contentType: string | undefined): Answer {
    if (authorized !== true) {
      return refusal(
        401,
        'Access denied due to unauthorized transaction, please check client or server key',
        'Visit https://snap-docs.midtrans.com/#request-headers for more details',
      );
    }
    if (!/^application\/json(;|$)/i.test(contentType ?? '')) {
      return refusal(415, 'Content-Type is not supported');
    }
    const objections = objectionsTo(body);
    if (orderId === null || objections.length > 0) return refusal(400, ...objections);
    if (this.orders.has(orderId)) {
      return refusal(400, 'transaction_details.order_id has already been taken');
    }
    const grossAmount = Number(field(field(body, 'transaction_details'), 'gross_amount'));
    const { token } = this.open(orderId, grossAmount, body);
    return json(201, { token, redirect_url: `${this.apiUrl}/snap/v4/redirection/${token}` });
  }

  private api(call: MidtransCallRecord, operation: 'status' | 'cancel' | 'expire'): Answer {
    if (call.authorized !== true) {
      return json(401, {
        status_code: '401',
        status_message: 'Transaction cannot be authorized with the current client/server key.',
        id: randomUUID(),
      });
    }
    const order = [...this.orders.values()].find(
      ({ orderId, transactions }) =>
        orderId === call.orderId || transactions.some(({ transactionId }) => transactionId === call.orderId),
    );
    const transaction = order?.transactions.at(-1);
    if (order === undefined || transaction === undefined) {
      return this.coded({
        status_code: '404',
        status_message: "Transaction doesn't exist.",
        id: randomUUID(),
      });
    }
    if (operation === 'status')
      return this.coded(statusAnswer(order, transaction, this.serverKey), transaction);
    if (!CAN_BECOME[operation].includes(transaction.status)) {
      return this.coded({
        status_code: '412',
        status_message: 'Transaction status cannot be updated.',
        id: randomUUID(),
      });
    }
    transaction.status = operation;
    return this.coded(changeAnswer(order, transaction), transaction);
  }

  private coded(fields: NotificationFields, transaction?: MidtransTransaction): Answer {
    const code = Number(fields.status_code);
    const status = this.httpStatusFollowsCode ? code : 200;
    const isRenamed = this.answersTransactionIdAsOrderId && transaction !== undefined;
    return json(status, { ...fields, ...(isRenamed && { order_id: transaction.transactionId }) });
  }

  private answer(response: ServerResponse, answer: Answer, fault: MidtransFault | undefined): void {
    switch (fault?.kind) {
      case 'answer-lost':
        response.destroy();
        return;
      case 'cut':
        cut(response, answer);
        return;
      case 'drip':
        drip(response, answer, this.dripIntervalMs);
        return;
      case 'garbage':
        send(response, { status: 200, body: '<html><body>It works!</body></html>' });
        return;
      case 'late':
        sendLater(response, answer, fault.afterMs);
        return;
      default:
        send(response, answer);
    }
  }
}

/** @returns null for a path or method that Midtrans does not have */
function targetOf(request: IncomingMessage): { operation: MidtransOperation; orderId: string | null } | null {
  const { method, url = '' } = request;
  if (method === 'POST' && url === '/snap/v1/transactions') return { operation: 'create', orderId: null };
  const [, id = '', operation] = /^\/v2\/([^/?#]+)\/(status|cancel|expire)$/.exec(url) ?? [];
  if (method !== (operation === 'status' ? 'GET' : 'POST')) return null;
  return operation === 'status' || operation === 'cancel' || operation === 'expire'
    ? { operation, orderId: decodeURIComponent(id) }
    : null;
}

/** The answer of a fault that keeps the call from being performed. */
function given(fault: MidtransFault | undefined): Answer | null {
  if (fault?.kind === 'error') {
    const message = 'Sorry, we encountered internal server error. We will fix this soon.';
    return json(500, { status_code: '500', status_message: message, error_messages: [message] });
  }
  if (fault?.kind !== 'answer') return null;
  const body = typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body);
  return { status: fault.status, body, ...(fault.headers !== undefined && { headers: fault.headers }) };
}

function json(status: number, body: object): Answer {
  return { status, body: JSON.stringify(body) };
}

function refusal(status: number, ...messages: string[]): Answer {
  return json(status, { error_messages: messages });
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(body);
}

function sendLater(response: ServerResponse, answer: Answer, afterMs: number): void {
  const timer = setTimeout(() => {
    send(response, answer);
  }, afterMs);
  response.once('close', () => {
    clearTimeout(timer);
  });
}

function cut(response: ServerResponse, { status, body }: Answer): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

function drip(response: ServerResponse, { status, body }: Answer, intervalMs: number): void {
  const bytes = Buffer.from(body);
  let sent = 0;
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
  const timer = setInterval(() => {
    response.write(bytes.subarray(sent, sent + 1));
    sent += 1;
    if (sent === bytes.length) response.end();
  }, intervalMs);
  response.once('close', () => {
    clearInterval(timer);
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error(`request body exceeds ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No JSON: refused for what it lacks.
  }
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
