import type { v2 as cloudinary } from 'cloudinary';
import http from 'node:http';
import https from 'node:https';
import { type CloudinaryAccount, parseCloudinaryUrl } from '../config/cloudinary-url.js';
import { ImageHostError, type ImageFile, type ImageHost } from './image-host.js';

type Operation = 'upload' | 'remove';
type SdkOptions = CloudinaryAccount & { readonly agent: http.Agent; readonly disable_promises: true };
type Callback = (error: unknown, answer: unknown) => void;
type Uploader = typeof cloudinary.uploader;

/** Images at Cloudinary, through its SDK. */
export class CloudinaryImageHost implements ImageHost {
  readonly #account: CloudinaryAccount;

  /**
   * @param url `cloudinary://key:secret@cloud`, with `?upload_prefix=` where the API is not at Cloudinary's own address
   * @param deadlineMs longest time of one call
   * @throws Error if the URL is malformed; the message holds nothing of it
   */
  constructor(
    url: string,
    private readonly deadlineMs = 10_000,
  ) {
    this.#account = parseCloudinaryUrl(url);
  }

  /** @throws ImageHostError when the host refused, did not answer in time or answered something unusable */
  async upload(publicId: string, { bytes }: ImageFile): Promise<string> {
    const answer = await this.#call('upload', (uploader, options, done) => {
      const upload = { ...options, public_id: publicId, overwrite: false };
      uploader.upload_stream(upload, done).end(bytes);
    });
    // An upload preset of the account can move the image. It could then not be removed by our id.
    if (field(answer, 'public_id') !== publicId) {
      throw new ImageHostError('upload', 'the answer names another public id', 200);
    }
    const url = field(answer, 'secure_url');
    if (typeof url !== 'string' || !/^https:\/\/\S+$/.test(url)) {
      throw new ImageHostError('upload', 'the answer holds no usable URL', 200);
    }
    return url;
  }

  /** @throws ImageHostError when the host refused, did not answer in time or answered something unusable */
  async remove(publicId: string): Promise<void> {
    const answer = await this.#call('remove', (uploader, options, done) => {
      void uploader.destroy(publicId, { ...options, invalidate: true }, done);
    });
    const result = field(answer, 'result');
    if (result !== 'ok' && result !== 'not found') {
      throw new ImageHostError('remove', 'the answer does not confirm it', 200);
    }
  }

  /** Makes a call that ends, with its connection, at the deadline: the SDK's own timeout only counts silence. */
  async #call(
    operation: Operation,
    start: (uploader: Uploader, options: SdkOptions, done: Callback) => void,
  ): Promise<unknown> {
    // Loaded with the first call: its 250 files would delay each start of a service without Cloudinary.
    const { uploader } = (await import('cloudinary')).v2;
    // An agent for each call, so that its connection can be closed. The agent also decides between http and https.
    const agent = this.#account.upload_prefix.startsWith('https:') ? new https.Agent() : new http.Agent();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => {
          reject(new ImageHostError(operation, `no complete answer within ${this.deadlineMs} ms`));
        }, this.deadlineMs);
        start(uploader, { ...this.#account, agent, disable_promises: true }, (error, answer) => {
          if (error === undefined) resolve(answer);
          else reject(toImageHostError(operation, error));
        });
      });
    } finally {
      clearTimeout(timer);
      agent.destroy();
    }
  }
}

/** Keeps of the SDK's error what cannot hold a secret: the HTTP status or the code of a network error. */
function toImageHostError(operation: Operation, error: unknown): ImageHostError {
  const status = field(error, 'http_code');
  if (typeof status === 'number') return new ImageHostError(operation, `the host answered ${status}`, status);
  const code = field(error, 'code');
  return new ImageHostError(operation, `connection failed (${typeof code === 'string' ? code : 'unknown'})`);
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
