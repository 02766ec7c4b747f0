import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type ResponseContent, type Call, StandIn } from './stand-in.js';
import { startServer } from './stop-after-use.js';

export type CloudinaryOperation = 'upload' | 'destroy';

interface CloudinaryCall extends Call<CloudinaryOperation> {
  /** Texts of the form; empty before the call is read. */
  readonly parameters: Record<string, string>;
  /** Bytes of the image; empty before the call is read, and for `destroy`. */
  file: Buffer;
  /** False before the call is read. */
  hasValidSignature: boolean;
}

interface CloudinaryImage {
  readonly bytes: Buffer;
  readonly format: 'png' | 'jpg';
}

const API_KEY = '874837483274837';

/**
 * Cloudinary's upload API on loopback: signed `upload` and `destroy` of images. The stand-in verifies signatures without
 * Cloudinary's SDK, which the service uses to create them.
 *
 * @see https://cloudinary.com/documentation/authentication_signatures
 */
export class CloudinaryStandIn extends StandIn<CloudinaryOperation, CloudinaryCall> {
  /** Stored images by public id. */
  readonly images = new Map<string, CloudinaryImage>();

  static start({ apiSecret = 'a676b67565c6767a6767d6767f676fe1' } = {}): Promise<CloudinaryStandIn> {
    return startServer(new CloudinaryStandIn(apiSecret));
  }

  private constructor(private readonly apiSecret: string) {
    super();
  }

  /** Also removes all images. */
  override reset(): void {
    super.reset();
    this.images.clear();
  }

  get url(): string {
    return `cloudinary://${API_KEY}:${this.apiSecret}@bakery?upload_prefix=http://127.0.0.1:${this.port}`;
  }

  imageAt(url: string): CloudinaryImage | undefined {
    const [, id = '', format] =
      /^https:\/\/res\.cloudinary\.com\/bakery\/image\/upload\/v1\/(.+)\.(png|jpg)$/.exec(url) ?? [];
    const image = this.images.get(id);
    return image?.format === format ? image : undefined;
  }

  protected begin({ method, url = '' }: IncomingMessage): CloudinaryCall | null {
    const [, operation] = /^\/v1_1\/bakery\/image\/(upload|destroy)$/.exec(url) ?? [];
    if (method !== 'POST' || operation === undefined) return null;
    const unread = { parameters: {}, file: Buffer.alloc(0), hasValidSignature: false };
    return { operation: operation as CloudinaryOperation, ...unread };
  }

  protected read(call: CloudinaryCall, { headers }: IncomingMessage, body: Buffer): void {
    const [, boundary = ''] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? [];
    for (const part of body.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
      const [head = ''] = part.split('\r\n\r\n', 1);
      const [, name = ''] = / name="([^"]*)"/.exec(head) ?? [];
      const content = Buffer.from(part.slice(head.length + 4, -2), 'latin1');
      if (name === 'file') call.file = content;
      else call.parameters[name] = content.toString();
    }
    call.hasValidSignature = this.#isSigned(call.parameters);
  }

  protected perform({ operation, parameters, file, hasValidSignature }: CloudinaryCall): ResponseContent {
    if (!hasValidSignature) return { status: 401, body: { error: { message: 'Invalid Signature' } } };
    const { public_id: id = '' } = parameters;
    if (operation === 'destroy')
      return { status: 200, body: { result: this.images.delete(id) ? 'ok' : 'not found' } };
    const format = file.subarray(1, 4).toString() === 'PNG' ? 'png' : 'jpg';
    // An upload keeps an existing image, because the service sends `overwrite: false`.
    const image = this.images.get(id) ?? { bytes: file, format };
    this.images.set(id, image);
    const url = `https://res.cloudinary.com/bakery/image/upload/v1/${id}.${image.format}`;
    return { status: 200, body: { public_id: id, secure_url: url } };
  }

  #isSigned({ api_key, signature, ...signed }: Readonly<Record<string, string>>): boolean {
    const parameters = Object.entries(signed).map(([name, value]) => `${name}=${value}`);
    const text = parameters.toSorted().join('&') + this.apiSecret;
    const isRecent = Math.abs(Date.now() / 1000 - Number(signed.timestamp)) < 3600;
    const isAuthentic = signature === createHash('sha1').update(text).digest('hex');
    return api_key === API_KEY && isRecent && isAuthentic;
  }
}
