import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { randomUUID } from 'node:crypto';
import { type EntityManager, In, IsNull, Not, Raw, Repository } from 'typeorm';
import { isDatabaseUnavailable } from '../common/errors/database-errors.js';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import type { ImageFile } from './image-host.js';
import { ImageHosts } from './image-hosts.js';
import { Image } from './image.entity.js';
import { normalizeImage } from './resize.js';

type StagedImage = Readonly<Pick<Image, 'id' | 'url'>>;

export const MAX_IMAGES = 5;

const REMOVE_IMAGE = 'remove-image';
const SWEEP = 'sweep-abandoned-images';
const EVERY_MINUTE = '* * * * *';
/** Exceeds the deadline of every host: after this time an upload whose response was lost can no longer arrive. */
const UPLOAD_SETTLED_S = 60;
/** A larger backlog is left to the next sweeps, because each image needs a statement in the same transaction. */
const MAX_IMAGES_PER_SWEEP = 1_000;

/**
 * Stores and removes the images of products. The table `images` is the ledger of all files at the image hosts. After any
 * failure, durable jobs and the sweep of abandoned images make the ledger, the hosts and the products agree again.
 */
@Injectable()
export class ImagesService implements OnApplicationBootstrap, OnModuleInit {
  /** URL prefix of images that are stored locally. */
  readonly localPrefix: string;
  readonly #logger = new Logger('Images');

  constructor(
    @InjectRepository(Image) private readonly images: Repository<Image>,
    private readonly hosts: ImageHosts,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {
    this.localPrefix = `${env.publicUrl}/api/images/`;
  }

  onModuleInit(): void {
    const remove = ({ imageId }: { imageId: string }): Promise<void> => this.#remove(imageId);
    this.jobs.handle(REMOVE_IMAGE, remove, { kind: 'images' });
    this.jobs.repeat(SWEEP, EVERY_MINUTE, () => this.#sweep());
  }

  onApplicationBootstrap(): Promise<void> {
    return this.#scheduleSweep();
  }

  /** Schedules the next sweep if STAGED_IMAGE_TTL_S is so short that images must be swept more often than cron can. */
  async #scheduleSweep(): Promise<void> {
    const gapMs = (this.env.stagedImageTtlS / 4) * 1000;
    if (gapMs >= 60_000) return;
    const runAt = new Date(Date.now() + gapMs);
    await this.jobs.enqueue(this.images.manager, SWEEP, {}, { key: SWEEP, runAt });
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
    // Before the images are staged: the wait for the decoder must not use up the time that an upload has.
    const planned = await Promise.all(files.map((file) => this.#normalize(file)));
    await this.images.insert(planned.map(({ id }) => ({ id, host: imageHost, state: 'staged' })));
    const uploads = planned.map(async ({ id, image }) => {
      return { id, url: await this.hosts.upload(imageHost, id, image) };
    });
    // An upload that still runs could store an image after its removal.
    await Promise.allSettled(uploads);
    try {
      return await use(await Promise.all(uploads));
    } catch (error) {
      // Without a database, a second timeout would delay the response. The sweep will condemn the images.
      if (!isDatabaseUnavailable(error)) await this.discard(planned);
      throw error;
    }
  }

  async #normalize(file: ImageFile): Promise<{ readonly id: string; readonly image: ImageFile }> {
    const id = randomUUID();
    const image = await normalizeImage(file).catch((error: unknown) => {
      this.#logger.warn(`image ${id} is stored as it is, because it cannot be decoded: ${String(error)}`);
      return file;
    });
    return { id, image };
  }

  /**
   * Condemns the staged images of a failed request. Keeps images that are attached, because the transaction may have
   * committed although its response was lost. Never throws: the sweep condemns images that stay staged.
   */
  async discard(images: readonly Pick<Image, 'id'>[]): Promise<void> {
    try {
      await this.images.manager.transaction((tx) => this.condemn(tx, images, 'staged'));
    } catch (error) {
      const count = images.length;
      this.#logger.warn(`${count} staged images could not be condemned, the sweep will condemn them`, error);
    }
  }

  /** Attaches staged images after the `remaining` ones. Throws Error if the sweep has condemned a staged image meanwhile. */
  async attach(
    tx: EntityManager,
    productId: number,
    staged: readonly StagedImage[],
    remaining: readonly Image[] = [],
  ): Promise<void> {
    let position = (remaining.at(-1)?.position ?? -1) + 1;
    for (const { id, url } of staged) {
      const attached = { state: 'attached', url, productId, position } as const;
      const { affected } = await tx.update(Image, { id, state: 'staged' }, attached);
      if (affected !== 1) throw new Error('an image was condemned before it could be attached');
      position += 1;
    }
  }

  /** Condemns those of the images that are still in the state `from`, and enqueues their removal from the host. */
  async condemn(
    tx: EntityManager,
    images: readonly Pick<Image, 'id'>[],
    from: 'staged' | 'attached' = 'attached',
  ): Promise<void> {
    if (images.length === 0) return;
    const criteria = { id: In(images.map(({ id }) => id)), state: from };
    const change = { state: 'condemned', productId: null, position: null } as const;
    const result = await tx.update(Image, criteria, change, { returning: ['id'] });
    for (const { id } of result.raw as { id: string }[]) await this.#enqueueRemoval(tx, id);
  }

  async #enqueueRemoval(tx: EntityManager, imageId: string, runAt?: Date): Promise<void> {
    const options = { key: `${REMOVE_IMAGE}:${imageId}`, ...(runAt && { runAt }) };
    await this.jobs.enqueue(tx, REMOVE_IMAGE, { imageId }, options);
  }

  async #remove(imageId: string): Promise<void> {
    const image = await this.images.findOneBy({ id: imageId });
    if (image?.state !== 'condemned') return;
    await this.hosts.remove(image.host, image.id);
    // An image without a URL was never attached, and its upload may still arrive at the host. Its row stays until the upload
    // can no longer arrive. Then the image is removed again.
    const { affected } = await this.images.delete([
      { id: imageId, url: Not(IsNull()) },
      { id: imageId, stagedAt: isOlderThan(UPLOAD_SETTLED_S) },
    ]);
    if (affected === 1) return;
    const settledAt = new Date(image.stagedAt.getTime() + (UPLOAD_SETTLED_S + 1) * 1000);
    await this.#enqueueRemoval(this.images.manager, imageId, settledAt);
  }

  /** Condemns images that stayed staged, for example after a crash. */
  async #sweep(): Promise<void> {
    const where = { state: 'staged', stagedAt: isOlderThan(this.env.stagedImageTtlS) } as const;
    const count = await this.images.manager.transaction(async (tx) => {
      // Locked rows belong to a request that still attaches or discards its images.
      const abandoned = await tx.find(Image, {
        where,
        take: MAX_IMAGES_PER_SWEEP,
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      await this.condemn(tx, abandoned, 'staged');
      return abandoned.length;
    });
    if (count > 0) this.#logger.log(`${count} abandoned images were condemned`);
    await this.#scheduleSweep();
  }
}

function isOlderThan(seconds: number) {
  return Raw((column) => `${column} < now() - make_interval(secs => :seconds)`, { seconds });
}

/** Returns true if the ledger contains a file name, as for local images, instead of the URL at a remote host. */
function isLocal(url: string | null): boolean {
  return url?.startsWith('https:') === false;
}
