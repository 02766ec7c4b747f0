import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { Env } from '../config/env.js';
import type { ImageFile } from './image-host.js';
import { ImageHosts } from './image-hosts.js';
import { ImageRemovalService } from './image-removal.service.js';
import type { Image } from './image.entity.js';
import { ImagesRepository, type StagedImage } from './images.repository.js';

export type { Image, StagedImage };

/** Most images of one product (contract 8). */
export const MAX_IMAGES = 5;

/** Stores and removes the images of products, so that ledger, host and catalog agree after any failure. */
@Injectable()
export class ImagesService {
  /** What stands before the name of a local image in its URL. */
  readonly localPrefix: string;
  readonly #logger = new Logger('Images');

  constructor(
    { publicUrl }: Env,
    private readonly dataSource: DataSource,
    private readonly images: ImagesRepository,
    private readonly hosts: ImageHosts,
    private readonly removal: ImageRemovalService,
  ) {
    this.localPrefix = `${publicUrl}/api/images/`;
  }

  /** The absolute URL under which a browser finds an attached image. */
  urlOf({ url }: Pick<Image, 'url'>): string {
    return (isLocal(url) ? this.localPrefix : '') + (url ?? '');
  }

  /** Whether a URL shows this image, be it one that was given out under an earlier PUBLIC_URL. */
  isUrlOf(image: Pick<Image, 'url'>, url: string): boolean {
    return isLocal(image.url) ? url.endsWith(`/api/images/${image.url ?? ''}`) : url === image.url;
  }

  /**
   * Uploads files side by side, each with its row in the ledger first.
   * @returns the images in the order of the files; to be attached, or given back with `discard`
   * @throws the error of the first failing upload, once all have ended and are condemned
   */
  async stage(files: readonly ImageFile[]): Promise<StagedImage[]> {
    if (files.length === 0) return [];
    const planned = files.map((file) => ({ id: randomUUID(), file }));
    const ids = planned.map(({ id }) => id);
    await this.images.stage(ids, this.hosts.current);
    const uploads = await Promise.allSettled(
      planned.map(async ({ id, file }) => ({ id, url: await this.hosts.upload(id, file) })),
    );
    const failed = uploads.find((upload) => upload.status === 'rejected');
    if (failed !== undefined) {
      await this.discard(ids);
      throw failed.reason;
    }
    return uploads.filter((upload) => upload.status === 'fulfilled').map(({ value }) => value);
  }

  /**
   * Condemns staged images of a request that failed. Images that a product has stay: a commit whose answer was lost
   * looks like a failure. Never throws: the sweep finds what this could not condemn.
   */
  async discard(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    try {
      await this.dataSource.transaction((tx) => this.removal.condemn(tx, ids, 'unattached'));
    } catch (error) {
      this.#logger.warn(`${ids.length} staged images are left to the sweep`, error);
    }
  }

  /** A product's images in their order. */
  attachedTo(tx: EntityManager, productId: number): Promise<Image[]> {
    return this.images.attachedTo(tx, productId);
  }

  /**
   * Gives staged images to a product, after those that it has.
   * @returns the URLs of all
   * @throws Error when the sweep has condemned one of them in the meantime
   */
  async attach(
    tx: EntityManager,
    productId: number,
    staged: readonly StagedImage[],
    remaining: readonly Image[] = [],
  ): Promise<string[]> {
    let position = (remaining.at(-1)?.position ?? -1) + 1;
    for (const image of staged) {
      if (!(await this.images.attach(tx, image, productId, position)))
        throw new Error('an image was condemned before it could be attached');
      position += 1;
    }
    return [...remaining, ...staged].map((image) => this.urlOf(image));
  }

  /** Takes images from their products; they are removed from the host once the transaction has committed. */
  async condemn(tx: EntityManager, images: readonly Image[]): Promise<void> {
    await this.removal.condemn(
      tx,
      images.map(({ id }) => id),
      'attached',
    );
  }
}

/** A local image is kept by its file's name, which has no scheme. */
function isLocal(url: string | null): boolean {
  return url?.startsWith('https:') === false;
}
