import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { timedCall } from '../common/metrics.js';
import { type ImageFile, isRefusal } from './image-host.js';
import { ImageHosts } from './image-hosts.js';
import { ImageRemovalService } from './image-removal.service.js';
import { type AttachedImage, ImagesRepository, type StagedImage } from './images.repository.js';

export type { AttachedImage, StagedImage };

/** Most images of one product (interface.md section 8). */
export const MAX_IMAGES = 5;

/** Stores and removes the images of products, so that ledger, host and catalog agree whatever fails. */
@Injectable()
export class ImagesService {
  readonly #logger = new Logger('Images');

  constructor(
    private readonly dataSource: DataSource,
    private readonly images: ImagesRepository,
    private readonly hosts: ImageHosts,
    private readonly removal: ImageRemovalService,
  ) {}

  /**
   * Uploads files side by side, each with its line in the ledger first.
   * @returns the images in the order of the files; to be attached, or given back with `discard`
   * @throws what the first failing upload reports, once all have ended and are condemned
   */
  async stage(files: readonly ImageFile[]): Promise<StagedImage[]> {
    if (files.length === 0) return [];
    const host = this.hosts.get(this.hosts.current);
    const planned = files.map((file) => ({ id: randomUUID(), file }));
    const ids = planned.map(({ id }) => id);
    await this.images.stage(ids, this.hosts.current);
    const uploads = await Promise.allSettled(
      planned.map(async ({ id, file }) => ({
        id,
        url: await timedCall('image_host', 'upload', () => host.upload(id, file), isRefusal),
      })),
    );
    const failed = uploads.find((upload) => upload.status === 'rejected');
    if (failed !== undefined) {
      await this.discard(ids);
      throw failed.reason;
    }
    return uploads.filter((upload) => upload.status === 'fulfilled').map(({ value }) => value);
  }

  /**
   * Condemns staged images of a request that failed. Those that a product has stay: a commit whose answer was lost
   * looks like a failure. Never throws: the sweep finds what it could not reach.
   */
  async discard(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    try {
      await this.dataSource.transaction((tx) => this.removal.condemnUnattached(tx, ids));
    } catch (error) {
      this.#logger.warn(`${ids.length} staged images are left to the sweep`, error);
    }
  }

  /** A product's images in their order. */
  attachedTo(productId: number, tx?: EntityManager): Promise<AttachedImage[]> {
    return this.images.attachedTo(productId, tx);
  }

  /**
   * Gives staged images to a product, after those that it has.
   * @throws Error when the sweep has condemned one of them in the meantime
   */
  async attach(
    tx: EntityManager,
    productId: number,
    staged: readonly StagedImage[],
    remaining: readonly AttachedImage[] = [],
  ): Promise<void> {
    if (staged.length === 0) return;
    const firstPosition = (remaining.at(-1)?.position ?? -1) + 1;
    const attached = await this.images.attach(tx, productId, staged, firstPosition);
    if (attached !== staged.length) throw new Error('an image was condemned before it could be attached');
  }

  /** Takes images from their products; they are removed from the host once the transaction has committed. */
  async condemn(tx: EntityManager, images: readonly AttachedImage[]): Promise<void> {
    if (images.length > 0) {
      await this.removal.condemnAttached(
        tx,
        images.map(({ id }) => id),
      );
    }
  }
}
