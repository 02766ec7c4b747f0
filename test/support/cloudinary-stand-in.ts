import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback, stopListening, trackSockets } from './loopback.js';

export type CloudinaryOperation = 'upload' | 'destroy';

/**
 * What goes wrong with a request:
 * - `error`: 500, nothing is done · `hang`: never answered, nothing is done
 * - `cut`: the connection is cut while the request arrives, nothing is done
 * - `hang-after-accepting`, `cut-after-accepting`: done, but the caller never learns of it
 * - `drip`: done and answered a byte every `dripIntervalMs`
 * - `garbage`: done, but answered 200 with a page of HTML
 * - `answer`: done, but answered with the given status and body
 */
export type CloudinaryFault = {
  readonly operation: CloudinaryOperation;
  /** Which request of the operation it meets, counted from 1 when the fault is set; absent: every one. */
  readonly nth?: number;
} & (
  | {
      readonly kind:
        'error' | 'hang' | 'cut' | 'hang-after-accepting' | 'cut-after-accepting' | 'drip' | 'garbage';
    }
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
);

/** One request, in order of arrival. What a fault kept from being read stays null. */
export interface CloudinaryRequest {
  readonly operation: CloudinaryOperation;
  readonly fault: CloudinaryFault['kind'] | null;
  publicId: string | null;
  invalidate: boolean;
  overwrite: boolean | null;
  signatureValid: boolean | null;
  /** Status answered; null while there is none. */
  status: number | null;
}

export interface CloudinaryImage {
  readonly bytes: Buffer;
  readonly format: 'png' | 'jpg';
  /** Seconds since 1970. */
  readonly version: number;
}

export interface CloudinaryStandInOptions {
  readonly cloudName?: string;
  readonly apiKey?: string;
  readonly apiSecret?: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Parameters that Cloudinary leaves out of the signed text. */
const UNSIGNED = new Set(['file', 'cloud_name', 'resource_type', 'api_key', 'signature']);

/**
 * Cloudinary's upload API on loopback: signed `upload` and `destroy` of images, answered in the real shapes.
 * It recomputes each signature by itself rather than with the SDK.
 *
 * @see https://cloudinary.com/documentation/authentication_signatures
 */
export class CloudinaryStandIn {
  /** What is stored, by public id. */
  readonly images = new Map<string, CloudinaryImage>();
  readonly requests: CloudinaryRequest[] = [];
  /** Time taken over every answer. */
  delayMs = 0;
  dripIntervalMs = 1_000;
  maxConcurrentUploads = 0;
  /** Connections accepted since the start. */
  acceptedConnections = 0;

  private readonly server: Server;
  private readonly sockets: Set<Socket>;
  private readonly cloudName: string;
  private readonly apiKey: string;
  private readonly apiSecret: string;
  private port = 0;
  private uploadsInProgress = 0;
  private faults: { fault: CloudinaryFault; seen: number }[] = [];

  static async start(options: CloudinaryStandInOptions = {}): Promise<CloudinaryStandIn> {
    const standIn = new CloudinaryStandIn(options);
    standIn.port = await listenOnLoopback(standIn.server);
    return standIn;
  }

  private constructor({ cloudName, apiKey, apiSecret }: CloudinaryStandInOptions) {
    this.cloudName = cloudName ?? 'bakery';
    this.apiKey = apiKey ?? '874837483274837';
    this.apiSecret = apiSecret ?? 'a676b67565c6767a6767d6767f676fe1';
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        // A defect of the stand-in, or a caller that hung up while its request was read.
        response.destroy(error instanceof Error ? error : undefined);
      });
    });
    this.sockets = trackSockets(this.server);
    this.server.on('connection', () => (this.acceptedConnections += 1));
  }

  /** The CLOUDINARY_URL with which the SDK finds this server. */
  get url(): string {
    return `cloudinary://${this.apiKey}:${this.apiSecret}@${this.cloudName}?upload_prefix=http://127.0.0.1:${this.port}`;
  }

  /** Connections open now. */
  get openConnections(): number {
    return this.sockets.size;
  }

  /** The stored image that a URL of this host shows. */
  imageAt(url: string): CloudinaryImage | undefined {
    const path = `/${this.cloudName}/image/upload/v`;
    const { host, pathname } = new URL(url);
    if (host !== 'res.cloudinary.com' || !pathname.startsWith(path)) return undefined;
    const [, publicId = '', format] = /^\d+\/(.+)\.(png|jpg)$/.exec(pathname.slice(path.length)) ?? [];
    const image = this.images.get(publicId);
    return image?.format === format ? image : undefined;
  }

  /** Several faults may be set; a request meets the first that is due. */
  fault(fault: CloudinaryFault): void {
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
    const [, cloudName, operation] =
      /^\/v1_1\/([^/]+)\/image\/(upload|destroy)$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || (operation !== 'upload' && operation !== 'destroy')) {
      send(response, failure(404, `Unknown path ${request.url ?? ''}`));
      return;
    }
    if (operation === 'upload') this.countUpload(response);
    const fault = this.takeFault(operation);
    const record: CloudinaryRequest = {
      operation,
      fault: fault?.kind ?? null,
      publicId: null,
      invalidate: false,
      overwrite: null,
      signatureValid: null,
      status: null,
    };
    this.requests.push(record);
    response.once('finish', () => (record.status = response.statusCode));
    if (fault?.kind === 'cut') {
      request.once('data', () => request.socket.destroy());
      return;
    }

    const form = parseMultipart(await readBody(request), request.headers['content-type'] ?? '');
    const parameters = form?.parameters ?? new Map<string, string>();
    record.publicId = parameters.get('public_id') ?? null;
    record.invalidate = parameters.get('invalidate') === 'true' || parameters.get('invalidate') === '1';
    record.overwrite = parameters.has('overwrite') ? parameters.get('overwrite') === '1' : null;
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'error') {
      send(response, failure(500, 'Internal server error'));
      return;
    }

    const refusal =
      form === null ? failure(400, 'Malformed multipart body') : this.refusalOf(cloudName, parameters);
    record.signatureValid = refusal === null;
    const answer = refusal ?? this.perform(operation, parameters, form?.file);
    if (this.delayMs > 0) await pause(response, this.delayMs);
    this.answer(response, answer, fault);
  }

  private countUpload(response: ServerResponse): void {
    this.uploadsInProgress += 1;
    this.maxConcurrentUploads = Math.max(this.maxConcurrentUploads, this.uploadsInProgress);
    response.once('close', () => (this.uploadsInProgress -= 1));
  }

  private takeFault(operation: CloudinaryOperation): CloudinaryFault | undefined {
    const concerned = this.faults.filter(({ fault }) => fault.operation === operation);
    for (const entry of concerned) entry.seen += 1;
    const due = concerned.find(({ fault, seen }) => fault.nth === undefined || fault.nth === seen);
    return due?.fault;
  }

  /** What Cloudinary answers to credentials that do not hold; null if they do. */
  private refusalOf(cloudName: string | undefined, parameters: Map<string, string>): Answer | null {
    if (cloudName !== this.cloudName) return failure(401, 'cloud_name mismatch');
    const apiKey = parameters.get('api_key');
    if (apiKey !== this.apiKey) return failure(401, `Unknown API key ${apiKey ?? ''}`);
    const timestamp = Number(parameters.get('timestamp'));
    if (!(Math.abs(Date.now() / 1000 - timestamp) < 3600)) {
      return failure(400, `Stale request - reported time is ${timestamp} which is more than 1 hour ago`);
    }
    const signature = parameters.get('signature') ?? '';
    const text = [...parameters]
      .filter(([name, value]) => !UNSIGNED.has(name) && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${value}`.replaceAll('&', '%26'))
      .join('&');
    const algorithm = signature.length === 64 ? 'sha256' : 'sha1';
    const expected = createHash(algorithm)
      .update(text + this.apiSecret)
      .digest('hex');
    if (signature === expected) return null;
    return failure(401, `Invalid Signature ${signature}. String to sign - '${text}'.`);
  }

  private perform(
    operation: CloudinaryOperation,
    parameters: Map<string, string>,
    file: Buffer | undefined,
  ): Answer {
    const publicId = parameters.get('public_id') ?? '';
    if (operation === 'destroy') {
      return success({ result: this.images.delete(publicId) ? 'ok' : 'not found' });
    }
    const format = file === undefined ? null : formatOf(file);
    if (file === undefined || format === null) return failure(400, 'Invalid image file');
    let image = this.images.get(publicId);
    const existing = image !== undefined && parameters.get('overwrite') === '0';
    if (image === undefined || !existing) {
      image = { bytes: file, format, version: Math.floor(Date.now() / 1000) };
      this.images.set(publicId, image);
    }
    const path = `res.cloudinary.com/${this.cloudName}/image/upload/v${image.version}/${publicId}.${image.format}`;
    return success({
      asset_id: createHash('md5').update(publicId).digest('hex'),
      public_id: publicId,
      version: image.version,
      format: image.format,
      resource_type: 'image',
      created_at: new Date(image.version * 1000).toISOString(),
      tags: [],
      bytes: image.bytes.length,
      type: 'upload',
      etag: createHash('md5').update(image.bytes).digest('hex'),
      placeholder: false,
      url: `http://${path}`,
      secure_url: `https://${path}`,
      ...(existing ? { existing: true } : {}),
      original_filename: 'file',
    });
  }

  private answer(response: ServerResponse, answer: Answer, fault: CloudinaryFault | undefined): void {
    switch (fault?.kind) {
      case 'hang-after-accepting':
        return;
      case 'cut-after-accepting':
        response.destroy();
        return;
      case 'drip':
        drip(response, answer, this.dripIntervalMs);
        return;
      case 'garbage':
        send(response, { status: 200, body: '<html><body>It works!</body></html>' });
        return;
      case 'answer':
        send(response, fault);
        return;
      default:
        send(response, answer);
    }
  }
}

function success(body: object): Answer {
  return { status: 200, body: JSON.stringify(body) };
}

function failure(status: number, message: string): Answer {
  return { status, body: JSON.stringify({ error: { message } }) };
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(body);
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

/** Resolves after the time, at once if the caller hangs up. */
async function pause(response: ServerResponse, milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw new Error(`request body exceeds ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Form {
  readonly parameters: Map<string, string>;
  readonly file: Buffer | undefined;
}

/** @returns null if the body does not end with its final boundary or a part is malformed */
function parseMultipart(body: Buffer, contentType: string): Form | null {
  const [, boundary] = /^multipart\/form-data;.*boundary=(.+)$/.exec(contentType) ?? [];
  if (boundary === undefined || !body.subarray(0, boundary.length + 2).equals(Buffer.from(`--${boundary}`))) {
    return null;
  }
  const parameters = new Map<string, string>();
  let file: Buffer | undefined;
  let headersStart = boundary.length + 2;
  while (body.toString('latin1', headersStart, headersStart + 2) !== '--') {
    const headersEnd = body.indexOf('\r\n\r\n', headersStart);
    const contentEnd = headersEnd === -1 ? -1 : body.indexOf(`\r\n--${boundary}`, headersEnd + 4);
    const [, name] = /; name="([^"]*)"/.exec(body.toString('utf8', headersStart, headersEnd)) ?? [];
    if (contentEnd === -1 || name === undefined) return null;
    const content = body.subarray(headersEnd + 4, contentEnd);
    if (name === 'file') file = content;
    else parameters.set(name, content.toString('utf8'));
    headersStart = contentEnd + 2 + boundary.length + 2;
  }
  return { parameters, file };
}

function formatOf(bytes: Buffer): 'png' | 'jpg' | null {
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'png';
  return bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')) ? 'jpg' : null;
}
