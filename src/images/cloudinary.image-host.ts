import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import {
  type CloudinaryAccount,
  type CloudinaryUploader,
  loadCloudinaryUploader,
  parseCloudinaryUrl,
} from '../config/cloudinary-sdk.js';
import { ImageHostError, type ImageFile, type ImageHost } from './image-host.js';

export interface CloudinaryImageHostOptions {
  /** `cloudinary://key:secret@cloud`, with `?upload_prefix=` where the API is not Cloudinary's own address. */
  readonly cloudinaryUrl: string;
  /** Longest time of one call in milliseconds, waiting for a free connection included. */
  readonly deadlineMs?: number;
}

/** A real answer is about 1 KiB. The SDK itself collects an answer of any size. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 2048;
const CONNECTIONS = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8 };

type SdkCallback = (error: unknown, answer: unknown) => void;
type SdkOptions = ReturnType<typeof sdkOptions>;

/**
 * Images at Cloudinary, through its SDK. Each call ends within the deadline, and with it its connection: the
 * SDK's own timeout only counts silence, so that a host dripping bytes would hold it for ever.
 *
 * @throws Error from the constructor if `cloudinaryUrl` is malformed; the message holds nothing of it
 */
export class CloudinaryImageHost implements ImageHost {
  private readonly uploader: CloudinaryUploader;
  private readonly connections: TappedAgent;
  private readonly options: SdkOptions;
  private readonly deadlineMs: number;

  constructor({ cloudinaryUrl, deadlineMs = 10_000 }: CloudinaryImageHostOptions) {
    const account = parseCloudinaryUrl(cloudinaryUrl);
    this.deadlineMs = deadlineMs;
    this.uploader = loadCloudinaryUploader(account);
    this.connections = new TappedAgent(account.uploadPrefix, deadlineMs);
    this.options = sdkOptions(account, this.connections.agent);
  }

  /** @throws ImageHostError when the host refused, did not answer in time or answered something unusable */
  async upload(publicId: string, image: ImageFile): Promise<string> {
    const answer = await this.send(publicId, Readable.from(image.content.chunks(), { objectMode: false }));
    // An upload preset of the account can move the image, which could then not be removed by our id.
    if (field(answer, 'public_id') !== publicId) {
      throw new ImageHostError('upload', 'the answer names another public id', 200);
    }
    const url = field(answer, 'secure_url') ?? field(answer, 'url');
    if (!isHttpUrl(url)) throw new ImageHostError('upload', 'the answer holds no usable URL', 200);
    return url;
  }

  /** The bytes are read as the connection takes them, and no longer than the call lasts. */
  private async send(publicId: string, bytes: Readable): Promise<unknown> {
    try {
      return await this.call('upload', (done) => {
        const options = { ...this.options, public_id: publicId, overwrite: false };
        bytes.once('error', done).pipe(this.uploader.upload_stream(options, done));
      });
    } finally {
      bytes.destroy();
    }
  }

  /** @throws ImageHostError when the host refused, did not answer in time or answered something unusable */
  async remove(publicId: string): Promise<void> {
    const answer = await this.call('remove', (done) => {
      // The answer is taken from the callback: a rejection of the promise is the same one.
      void this.uploader.destroy(publicId, { ...this.options, invalidate: true }, done);
    });
    const result = field(answer, 'result');
    if (result !== 'ok' && result !== 'not found') {
      throw new ImageHostError('remove', 'the answer does not confirm it', 200);
    }
  }

  /** Closes the connections kept open. Nest calls this after the last request is answered. */
  onApplicationShutdown(): void {
    this.connections.agent.destroy();
  }

  private call(operation: 'upload' | 'remove', start: (done: SdkCallback) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let request: ClientRequest | undefined;
      // Called again by the SDK when the destroyed request reports its end: nothing happens then.
      const fail = (error: ImageHostError): void => {
        clearTimeout(timer);
        reject(error);
        request?.destroy();
      };
      const timer = setTimeout(() => {
        fail(new ImageHostError(operation, `no complete answer within ${this.deadlineMs} ms`));
      }, this.deadlineMs);

      try {
        request = this.connections.requestOf(() => {
          start((error, answer) => {
            if (error === undefined) {
              clearTimeout(timer);
              resolve(answer);
            } else {
              fail(toImageHostError(operation, error));
            }
          });
        });
      } catch (error) {
        fail(toImageHostError(operation, error));
        return;
      }
      limitAnswer(request, () => {
        fail(new ImageHostError(operation, `the answer exceeds ${MAX_ANSWER_BYTES} bytes`));
      });
    });
  }
}

/** The account goes with every call, for the SDK's global configuration is shared by the whole process. */
function sdkOptions(account: CloudinaryAccount, agent: http.Agent) {
  return {
    cloud_name: account.cloudName,
    api_key: account.apiKey,
    api_secret: account.apiSecret,
    upload_prefix: account.uploadPrefix,
    signature_algorithm: account.signatureAlgorithm,
    resource_type: 'image' as const,
    disable_promises: true,
    agent,
  };
}

/** Node's agents have this method, their type declaration does not. */
interface RequestAcceptor {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/**
 * Kept connections, few in number, and a way to the request that the SDK keeps to itself: without it a call
 * could not be ended but by closing the connections of all others.
 */
class TappedAgent {
  readonly agent: http.Agent;
  private accepted: ClientRequest | undefined;

  /** @param idleMs time after which an unused connection is closed, well under the minute that hosts allow */
  constructor(address: string, idleMs: number) {
    const { Agent } = address.startsWith('https:') ? https : http;
    const agent = new Agent({ ...CONNECTIONS, timeout: idleMs }) as http.Agent & RequestAcceptor;
    const addRequest = agent.addRequest.bind(agent);
    agent.addRequest = (request, ...rest) => {
      this.accepted = request;
      addRequest(request, ...rest);
    };
    this.agent = agent;
  }

  /** The request that `start` makes. The SDK makes it before it returns, so that calls cannot be confused. */
  requestOf(start: () => void): ClientRequest {
    this.accepted = undefined;
    start();
    // Widened, because the compiler cannot see the assignment that `start` leads to.
    const accepted = this.accepted as ClientRequest | undefined;
    if (accepted === undefined) throw new Error('the Cloudinary SDK made no request');
    return accepted;
  }
}

function limitAnswer(request: ClientRequest, onExcess: () => void): void {
  request.once('response', (response) => {
    let received = 0;
    response.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > MAX_ANSWER_BYTES) onExcess();
    });
  });
}

/** Keeps of the SDK's error what cannot hold a secret: the HTTP status or the code of a network error. */
function toImageHostError(operation: 'upload' | 'remove', error: unknown): ImageHostError {
  const status = field(error, 'http_code');
  if (typeof status === 'number') {
    const reason = status === 200 ? 'the answer is unusable' : `the host answered ${status}`;
    return new ImageHostError(operation, reason, status);
  }
  const code = field(error, 'code');
  if (typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)) {
    return new ImageHostError(operation, `connection failed (${code})`);
  }
  return new ImageHostError(operation, 'the request failed');
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function isHttpUrl(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_URL_LENGTH &&
    /^https?:\/\/[\x21-\x7e]+$/.test(value) &&
    URL.canParse(value)
  );
}
