import { type CallOutcome, type Telemetry } from '../common/telemetry.js';
import { type ImageFile, type ImageHost, ImageHostError } from './image-host.js';

/** An image host whose calls are reported: how long they took and what became of them. */
export class ObservedImageHost implements ImageHost {
  constructor(
    private readonly host: ImageHost,
    private readonly telemetry: Telemetry,
  ) {}

  upload(publicId: string, image: ImageFile): Promise<string> {
    return this.#call('upload', () => this.host.upload(publicId, image));
  }

  remove(publicId: string): Promise<void> {
    return this.#call('remove', () => this.host.remove(publicId));
  }

  #call<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return this.telemetry.call('image_host', operation, work, outcomeOf);
  }
}

function outcomeOf(error: unknown): CallOutcome {
  const { httpCode = 0 } = error instanceof ImageHostError ? error : {};
  return httpCode >= 400 && httpCode < 500 ? 'refused' : 'failed';
}
