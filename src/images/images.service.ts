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

/** Maximum number of images of a product (contract 8). */
export const MAX_IMAGES = 5;

/**
 * Stores and removes the images of products. The table `images` is the ledger of all files at the image hosts. After any
 * failure the ledger, the hosts and the products converge to the same images.
 */
@Injectable()
export class ImagesService {
  /** URL prefix of images that are stored locally. */
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

  /** Returns the absolute URLs of attached images. */
  urlsOf(images: readonly Pick<Image, 'url'>[]): string[] {
    return images.map(({ url }) => (isLocal(url) ? this.localPrefix : '') + (url ?? ''));
  }

  /** Returns true if a URL names this image, also a URL that was returned under an earlier PUBLIC_URL. */
  isUrlOf(image: Pick<Image, 'url'>, url: string): boolean {
    return isLocal(image.url) ? url.endsWith(`/api/images/${image.url ?? ''}`) : url === image.url;
  }

  /**
   * Adds images to the ledger, then uploads their files in parallel.
   * @returns the images in the order of the files. The caller must `attach` or `discard` them.
   * @throws the error of the first file whose upload failed. By then all uploads have ended and all images are condemned.
   */
  async stage(files: readonly ImageFile[]): Promise<StagedImage[]> {
    if (files.length === 0) return [];
    const planned = files.map((file) => ({ id: randomUUID(), file }));
    await this.images.stage(
      planned.map(({ id }) => id),
      this.hosts.current,
    );
    const uploads = await Promise.allSettled(
      planned.map(async ({ id, file }) => ({ id, url: await this.hosts.upload(id, file) })),
    );
    const failed = uploads.find((upload) => upload.status === 'rejected');
    if (failed !== undefined) {
      await this.discard(planned);
      throw failed.reason;
    }
    return uploads.filter((upload) => upload.status === 'fulfilled').map(({ value }) => value);
  }

  /**
   * Condemns the staged images of a failed request. Keeps images that are attached, because the transaction may have
   * committed although its response was lost. Never throws: the sweep of `ImageRemovalService` condemns images that
   * stay staged.
   */
  async discard(images: readonly Pick<Image, 'id'>[]): Promise<void> {
    if (images.length === 0) return;
    try {
      await this.dataSource.transaction((tx) => this.removal.condemn(tx, images, 'staged'));
    } catch (error) {
      const count = images.length;
      this.#logger.warn(`${count} staged images could not be condemned, the sweep will condemn them`, error);
    }
  }

  /** Returns the images of a product in their order. */
  attachedTo(tx: EntityManager, productId: number): Promise<Image[]> {
    return this.images.attachedTo(tx, productId);
  }

  /**
   * Attaches staged images to a product.
   * @param remaining images that the product already has and keeps. The staged images follow them.
   * @returns the URLs of all images of the product
   * @throws Error if the sweep has condemned a staged image in the meantime
   */
  async attach(
    tx: EntityManager,
    productId: number,
    staged: readonly StagedImage[],
    remaining: readonly Image[] = [],
  ): Promise<string[]> {
    let position = (remaining.at(-1)?.position ?? -1) + 1;
    for (const image of staged) {
      if (!(await this.images.attach(tx, { ...image, productId, position })))
        throw new Error('an image was condemned before it could be attached');
      position += 1;
    }
    return this.urlsOf([...remaining, ...staged]);
  }

  /** Detaches images from their products. A job removes them from the host after the transaction has committed. */
  async condemn(tx: EntityManager, images: readonly Image[]): Promise<void> {
    await this.removal.condemn(tx, images, 'attached');
  }
}

/** Returns true if the ledger contains a file name, as for local images, instead of the URL at a remote host. */
function isLocal(url: string | null): boolean {
  return url?.startsWith('https:') === false;
}
