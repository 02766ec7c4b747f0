import http from 'node:http';
import https from 'node:https';
import type { v2 as cloudinary } from 'cloudinary';
import { errorCode } from '../common/errors/error-info.js';
import { type CloudinaryAccount, parseCloudinaryUrl } from '../config/cloudinary-url.js';
import { type ImageFile, type ImageHost, ImageHostError } from './image-host.js';

/** Longest time of one call. */
export const CLOUDINARY_DEADLINE_MS = 10_000;

type Options = CloudinaryAccount & { readonly agent: http.Agent; readonly disable_promises: true };
type Callback = (error: unknown, response: unknown) => void;
type Response = Partial<Record<'public_id' | 'secure_url' | 'result', unknown>>;

/** Stores images at Cloudinary, through its SDK. */
export class CloudinaryImageHost implements ImageHost {
  readonly #account: CloudinaryAccount;

  constructor(
    url: string,
    private readonly deadlineMs = CLOUDINARY_DEADLINE_MS,
  ) {
    this.#account = parseCloudinaryUrl(url);
  }

  /** Returns the URL of the image. After an error, the image may be stored nevertheless. */
  async upload(publicId: string, { bytes }: ImageFile): Promise<string> {
    const response = await this.#call('upload', (uploader, options, done) => {
      const uploadOptions = { ...options, public_id: publicId, overwrite: false };
      uploader.upload_stream(uploadOptions, done).end(bytes);
    });
    // An upload preset of the account can change the id. Reject such an image, because the service could not remove it later. The
    // image stays at Cloudinary.
    if (response.public_id !== publicId)
      throw new ImageHostError('upload', 'the response names another public id');
    const url = response.secure_url;
    if (typeof url !== 'string' || !/^https?:\/\/\S+$/.test(url))
      throw new ImageHostError('upload', 'the response contains no usable URL');
    return url;
  }

  async remove(publicId: string): Promise<void> {
    const response = await this.#call('remove', (uploader, options, done) => {
      void uploader.destroy(publicId, { ...options, invalidate: true }, done);
    });
    if (response.result !== 'ok' && response.result !== 'not found')
      throw new ImageHostError('remove', 'the response does not confirm the removal');
  }

  /** Makes a call and closes its connection at the deadline: the SDK's own timeout restarts with each byte. */
  async #call(
    operation: keyof ImageHost,
    start: (uploader: typeof cloudinary.uploader, options: Options, done: Callback) => void,
  ): Promise<Response> {
    // Load the SDK with the first call, because its 250 files would delay every start.
    const { uploader } = (await import('cloudinary')).v2;
    // Each call has its own agent, so that its connection can be closed. The agent's class decides between http and https.
    const agent = this.#account.upload_prefix.startsWith('https:') ? new https.Agent() : new http.Agent();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Response>((resolve, reject) => {
        timer = setTimeout(() => {
          reject(new ImageHostError(operation, `no complete response within ${this.deadlineMs} ms`));
        }, this.deadlineMs);
        // `disable_promises`: the SDK would also reject a promise, which nothing would handle.
        start(uploader, { ...this.#account, agent, disable_promises: true }, (error, response) => {
          if (error === undefined) resolve(response ?? {});
          else reject(toImageHostError(operation, error));
        });
      });
    } finally {
      clearTimeout(timer);
      agent.destroy();
    }
  }
}

/** Reduces an error to its HTTP status or network error code, because errors of the SDK contain secrets. */
function toImageHostError(operation: keyof ImageHost, error: unknown): ImageHostError {
  const status = (error as { readonly http_code?: unknown } | null)?.http_code;
  if (typeof status === 'number')
    return new ImageHostError(operation, `the host responded with ${status}`, status);
  return new ImageHostError(operation, `connection failed (${errorCode(error) ?? 'unknown'})`);
}
