import { randomUUID } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, In, IsNull, Not, Raw, Repository } from 'typeorm';
import { isDatabaseUnavailable } from '../common/errors/error-info.js';
import { FairQueue } from '../common/fair-queue.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { CLOUDINARY_DEADLINE_MS } from './cloudinary.image-host.js';
import type { ImageFile } from './image-host.js';
import { ImageHosts } from './image-hosts.js';
import { Image } from './image.entity.js';
import { normalizeImage } from './resize.js';

type StagedImage = Readonly<Pick<Image, 'id' | 'url'>>;

const REMOVE_IMAGE = 'remove-image';
/**
 * Age of a staged row from which its upload can no longer arrive at the host. A call ends after CLOUDINARY_DEADLINE_MS. The host
 * may store the image later, so the margin is wide.
 */
const MAX_UPLOAD_S = (6 * CLOUDINARY_DEADLINE_MS) / 1000;
/** A larger backlog is left to the next sweeps, because each image needs a statement in the same transaction. */
const MAX_IMAGES_PER_SWEEP = 1_000;

/**
 * Stores the images of products. The table `images` is the ledger of all files at the image hosts. After any failure, durable
 * jobs and the sweep of abandoned images make the ledger, the hosts and the products agree again.
 */
@Injectable()
export class ImagesService implements OnModuleInit {
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
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {
    this.localPrefix = `${env.publicUrl}/api/images/`;
  }

  onModuleInit(): void {
    this.jobs.handle<{ imageId: string }>(REMOVE_IMAGE, ({ imageId }) => this.#remove(imageId), 'images');
    // More often for a short STAGED_IMAGE_TTL_S, so that an image outlives it by at most a quarter.
    const gapSeconds = Math.min(60, this.env.stagedImageTtlS / 4);
    this.jobs.repeat('sweep-abandoned-images', () => this.#sweep(), gapSeconds);
  }

  /** Returns the URL of an attached image. The ledger contains only the file name of a local image. */
  urlOf({ url }: Pick<Image, 'url'>): string {
    return url?.startsWith('https:') ? url : this.localPrefix + (url ?? '');
  }

  /**
   * Uploads files in parallel, outside of a transaction. After a failure, condemns the images or leaves them to the sweep.
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
      if (!isDatabaseUnavailable(error)) await this.#discard(prepared.map(({ id }) => id));
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

  /** Attached images stay, because the transaction may have committed before the request failed. Never throws. */
  async #discard(ids: readonly string[]): Promise<void> {
    const where = { id: In(ids), state: 'staged' } as const;
    const condemnAll = (tx: EntityManager) => this.condemn(tx, where);
    await this.images.manager.transaction(condemnAll).catch((error: unknown) => {
      const count = ids.length;
      this.#logger.warn(`${count} staged images could not be condemned, the sweep will condemn them`, error);
    });
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

  /** Condemns the images that match, and enqueues their removal from their hosts. Returns the number of these images. */
  async condemn(tx: EntityManager, where: FindOptionsWhere<Image>): Promise<number> {
    const change = { state: 'condemned', productId: null, position: null } as const;
    const result = await tx.update(Image, where, change, { returning: ['id'] });
    const condemned = result.raw as { id: string }[];
    for (const { id } of condemned)
      await this.jobs.enqueue(tx, REMOVE_IMAGE, { imageId: id }, { subject: id });
    return condemned.length;
  }

  async #remove(imageId: string): Promise<void> {
    const image = await this.images.findOneBy({ id: imageId });
    if (image?.state !== 'condemned') return;
    await this.hosts.remove(image.host, image.id);
    // An image without a URL was never attached, and its upload may still arrive at the host. Its row stays until the upload
    // can no longer arrive. Then the image is removed again.
    const { affected } = await this.images.delete([
      { id: imageId, url: Not(IsNull()) },
      { id: imageId, stagedAt: olderThan(MAX_UPLOAD_S) },
    ]);
    if (affected === 1) return;
    // One second more, because `Date` drops the microseconds of `staged_at`.
    const runAt = new Date(image.stagedAt.getTime() + (MAX_UPLOAD_S + 1) * 1000);
    await this.jobs.enqueue(this.images.manager, REMOVE_IMAGE, { imageId }, { subject: imageId, runAt });
  }

  /** Condemns images that stayed staged, for example after a crash. */
  async #sweep(): Promise<void> {
    const count = await this.images.manager.transaction(async (tx) => {
      // Locked rows belong to a request that still attaches or discards its images.
      const abandoned = await tx.find(Image, {
        where: { state: 'staged', stagedAt: olderThan(this.env.stagedImageTtlS) },
        take: MAX_IMAGES_PER_SWEEP,
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      return this.condemn(tx, { id: In(abandoned.map(({ id }) => id)) });
    });
    if (count > 0) this.#logger.log(`${count} abandoned images were condemned`);
  }
}

function olderThan(seconds: number) {
  return Raw((column) => `${column} < now() - make_interval(secs => :seconds)`, { seconds });
}
