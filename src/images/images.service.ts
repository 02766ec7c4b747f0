import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { isDatabaseUnavailable } from '../common/errors/database-errors.js';
import { FairQueue } from '../common/fair-queue.js';
import { Env } from '../config/env.js';
import type { ImageFile } from './image-host.js';
import { ImageHosts } from './image-hosts.js';
import { ImageRemovalService } from './image-removal.service.js';
import { Image } from './image.entity.js';
import { normalizeImage } from './resize.js';

type StagedImage = Readonly<Pick<Image, 'id' | 'url'>>;

/**
 * Stores the images of products. The table `images` is the ledger of all files at the image hosts. After any failure, durable
 * jobs and the sweep of abandoned images (`ImageRemovalService`) make the ledger, the hosts and the products agree again.
 */
@Injectable()
export class ImagesService {
  /** URL prefix of images that are stored locally. */
  readonly localPrefix: string;
  readonly #logger = new Logger('Images');
  /**
   * One uploaded image at a time is decoded: decoding takes up to 190 MB of memory and a processor core. Smaller versions have a
   * queue of their own.
   */
  readonly #decoder = new FairQueue({ capacity: 1 });

  constructor(
    @InjectRepository(Image) private readonly images: Repository<Image>,
    private readonly hosts: ImageHosts,
    private readonly removal: ImageRemovalService,
    private readonly env: Env,
  ) {
    this.localPrefix = `${env.publicUrl}/api/images/`;
  }

  urlsOf(images: readonly Pick<Image, 'url'>[]): string[] {
    return images.map(({ url }) => (isLocal(url) ? this.localPrefix : '') + (url ?? ''));
  }

  /** Returns true if a URL names this image, also a URL that was returned under an earlier PUBLIC_URL. */
  isUrlOf(image: Pick<Image, 'url'>, url: string): boolean {
    return isLocal(image.url) ? url.endsWith(`/api/images/${image.url ?? ''}`) : url === image.url;
  }

  /**
   * Uploads files in parallel, outside of a transaction. After a failure, discards the images or leaves them to the sweep.
   * @param use attaches the staged images, which it gets in the order of the files
   * @throws the error of `use` or of the first file whose upload failed, after all uploads have ended
   */
  async withStaged<T>(
    files: readonly ImageFile[],
    use: (staged: readonly StagedImage[]) => Promise<T>,
  ): Promise<T> {
    if (files.length === 0) return use([]);
    const { imageHost } = this.env;
    // Normalize the images before they are staged: the wait for the decoder must not use up the time that an upload has.
    const prepared = await Promise.all(files.map((file) => this.#normalize(file)));
    await this.images.insert(prepared.map(({ id }) => ({ id, host: imageHost, state: 'staged' })));
    const uploads = prepared.map(async ({ id, image }) => {
      return { id, url: await this.hosts.upload(imageHost, id, image) };
    });
    // An upload that still runs could store an image after its removal.
    await Promise.allSettled(uploads);
    try {
      return await use(await Promise.all(uploads));
    } catch (error) {
      // Without a database, a second timeout would delay the response. The sweep will condemn the images.
      if (!isDatabaseUnavailable(error)) await this.#discard(prepared);
      throw error;
    }
  }

  async #normalize(file: ImageFile): Promise<{ readonly id: string; readonly image: ImageFile }> {
    const id = randomUUID();
    const image = await this.#decoder
      .run(() => normalizeImage(file))
      .catch((error: unknown) => {
        this.#logger.warn(`image ${id} is stored as it is, because it cannot be decoded: ${String(error)}`);
        return file;
      });
    return { id, image };
  }

  /**
   * Condemns the images of a failed request that are still staged. Attached images stay, because the transaction may have
   * committed before the request failed. Never throws: the sweep condemns images that stay staged.
   */
  async #discard(images: readonly Pick<Image, 'id'>[]): Promise<void> {
    try {
      await this.images.manager.transaction((tx) => this.removal.condemn(tx, images, 'staged'));
    } catch (error) {
      const count = images.length;
      this.#logger.warn(`${count} staged images could not be condemned, the sweep will condemn them`, error);
    }
  }

  /**
   * Attaches staged images after the `remaining` ones.
   * @throws Error if the sweep has condemned a staged image meanwhile
   */
  async attach(
    tx: EntityManager,
    productId: number,
    staged: readonly StagedImage[],
    remaining: readonly Image[] = [],
  ): Promise<void> {
    const firstPosition = (remaining.at(-1)?.position ?? -1) + 1;
    for (const [index, { id, url }] of staged.entries()) {
      const attached = { state: 'attached', url, productId, position: firstPosition + index } as const;
      const { affected } = await tx.update(Image, { id, state: 'staged' }, attached);
      if (affected !== 1) throw new Error('an image was condemned before it could be attached');
    }
  }
}

/** Returns true if the ledger contains a file name, as for local images, instead of the URL at a remote host. */
function isLocal(url: string | null): boolean {
  return url?.startsWith('https:') === false;
}
