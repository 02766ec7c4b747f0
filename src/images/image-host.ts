/** Largest number of images of a product. */
export const MAX_IMAGES = 5;
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** PNG or JPEG, as a client sent it or as `normalizeImage` changed it. */
export interface ImageFile {
  /** The whole file. */
  readonly bytes: Buffer;
  /** Detected from the first bytes, not from the file's name. */
  readonly format: 'png' | 'jpg';
}

export interface ImageHost {
  /** Stores an image. Returns the value of `Image.url`. */
  upload(imageId: string, image: ImageFile): Promise<string>;
  /** Succeeds also if the image does not exist. */
  remove(imageId: string): Promise<void>;
}

/** A failed call of an image host. Contains no text of the host, because the host quotes signatures in its messages. */
export class ImageHostError extends Error {
  override readonly name = 'ImageHostError';

  /**
   * @param httpCode status with which the host rejected the call or failed; undefined after any other failure. Not called
   *   `status`: `FailEnvelopeFilter` would treat a 4xx of the host as a mistake of the client
   */
  constructor(
    operation: keyof ImageHost,
    reason: string,
    readonly httpCode?: number,
  ) {
    super(`image host: ${operation} failed: ${reason}`);
  }
}

/** Returns true if the host responded with a 4xx status. */
export function isRejection(error: unknown): boolean {
  if (!(error instanceof ImageHostError) || error.httpCode === undefined) return false;
  return error.httpCode >= 400 && error.httpCode < 500;
}
