import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type ResponseContent, type Call, StandIn } from './stand-in.js';

export type CloudinaryOperation = 'upload' | 'destroy';

interface CloudinaryCall extends Call<CloudinaryOperation> {
  readonly cloudName: string;
  file?: Buffer | undefined;
  publicId: string | null;
  invalidate: boolean;
  /** Null if the request did not contain the parameter. */
  overwrite: boolean | null;
  /** Null before the call is read. */
  hasValidSignature: boolean | null;
}

interface CloudinaryImage {
  readonly bytes: Buffer;
  readonly format: 'png' | 'jpg';
  /** Seconds since 1970. */
  readonly version: number;
}

const CLOUD_NAME = 'bakery';
/** Parameters that the signature does not cover. */
const UNSIGNED = new Set(['file', 'cloud_name', 'resource_type', 'api_key', 'signature']);

/**
 * Cloudinary's upload API on loopback: signed `upload` and `destroy` of images, with responses like the real ones. The
 * stand-in verifies signatures without Cloudinary's SDK, which the service uses to create them.
 *
 * @see https://cloudinary.com/documentation/authentication_signatures
 */
export class CloudinaryStandIn extends StandIn<CloudinaryOperation, CloudinaryCall> {
  /** Stored images by public id. */
  readonly images = new Map<string, CloudinaryImage>();
  /** Delay of every response, until a test sets `beforeResponse`. */
  delayMs = 0;

  static async start({
    apiKey = '874837483274837',
    apiSecret = 'a676b67565c6767a6767d6767f676fe1',
  } = {}): Promise<CloudinaryStandIn> {
    const standIn = new CloudinaryStandIn(apiKey, apiSecret);
    await standIn.up();
    return standIn;
  }

  private constructor(
    private readonly apiKey: string,
    private readonly apiSecret: string,
  ) {
    super();
    this.reset();
  }

  /** Also removes all images. */
  override reset(): void {
    super.reset();
    this.images.clear();
    this.delayMs = 0;
    this.beforeResponse = () => new Promise((resolve) => setTimeout(resolve, this.delayMs));
  }

  get url(): string {
    return `cloudinary://${this.apiKey}:${this.apiSecret}@${CLOUD_NAME}?upload_prefix=http://127.0.0.1:${this.port}`;
  }

  imageAt(url: string): CloudinaryImage | undefined {
    const [, cloudName, id = '', format] =
      /^https:\/\/res\.cloudinary\.com\/(\w+)\/image\/upload\/v\d+\/(.+)\.(png|jpg)$/.exec(url) ?? [];
    const image = this.images.get(id);
    return cloudName === CLOUD_NAME && image?.format === format ? image : undefined;
  }

  protected begin({ method, url = '' }: IncomingMessage): CloudinaryCall | null {
    const [, cloudName = '', operation] = /^\/v1_1\/([^/]+)\/image\/(upload|destroy)$/.exec(url) ?? [];
    if (method !== 'POST' || (operation !== 'upload' && operation !== 'destroy')) return null;
    const unread = { publicId: null, invalidate: false, overwrite: null, hasValidSignature: null };
    return { operation, cloudName, ...unread };
  }

  protected read(call: CloudinaryCall, { headers }: IncomingMessage, body: Buffer): void {
    const [, boundary = ''] = /boundary=(.+)$/.exec(headers['content-type'] ?? '') ?? [];
    const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
    const fields = new Map(
      parts.map((part) => {
        const [head = ''] = part.split('\r\n\r\n', 1);
        const [, name = ''] = / name="([^"]*)"/.exec(head) ?? [];
        return [name, Buffer.from(part.slice(head.length + 4, -2), 'latin1')] as const;
      }),
    );
    const parameters = new Map([...fields].map(([name, bytes]) => [name, bytes.toString()] as const));
    Object.assign(call, {
      file: fields.get('file'),
      publicId: parameters.get('public_id') ?? null,
      invalidate: ['true', '1'].includes(parameters.get('invalidate') ?? ''),
      overwrite: parameters.has('overwrite') ? parameters.get('overwrite') === '1' : null,
      hasValidSignature: call.cloudName === CLOUD_NAME && this.#isSigned(parameters),
    });
  }

  protected perform({ operation, hasValidSignature, publicId, file }: CloudinaryCall): ResponseContent {
    const id = publicId ?? '';
    if (hasValidSignature !== true) return { status: 401, body: { error: { message: 'Invalid Signature' } } };
    if (operation === 'destroy')
      return { status: 200, body: { result: this.images.delete(id) ? 'ok' : 'not found' } };
    const format = file === undefined ? undefined : detectFormat(file);
    if (file === undefined || format === undefined)
      return { status: 400, body: { error: { message: 'Invalid image file' } } };
    // An upload keeps an existing image, because the service sends `overwrite: false`.
    const image = this.images.get(id) ?? { bytes: file, format, version: Math.floor(Date.now() / 1000) };
    this.images.set(id, image);
    const url = `https://res.cloudinary.com/${CLOUD_NAME}/image/upload/v${image.version}/${id}.${image.format}`;
    return {
      status: 200,
      body: { public_id: id, version: image.version, format: image.format, secure_url: url },
    };
  }

  #isSigned(parameters: ReadonlyMap<string, string>): boolean {
    const age = Math.abs(Date.now() / 1000 - Number(parameters.get('timestamp')));
    if (parameters.get('api_key') !== this.apiKey || !(age < 3600)) return false;
    const signature = parameters.get('signature') ?? '';
    const text = [...parameters]
      .filter(([name, value]) => !UNSIGNED.has(name) && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${value}`.replaceAll('&', '%26'))
      .join('&');
    const hash = createHash(signature.length === 64 ? 'sha256' : 'sha1');
    return signature === hash.update(text + this.apiSecret).digest('hex');
  }
}

function detectFormat(bytes: Buffer): 'png' | 'jpg' | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))) return 'png';
  return bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')) ? 'jpg' : undefined;
}
