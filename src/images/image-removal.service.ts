import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, IsNull, Not, Raw, Repository } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { CLOUDINARY_DEADLINE_MS } from './cloudinary.image-host.js';
import { ImageHosts } from './image-hosts.js';
import { Image } from './image.entity.js';

const REMOVE_IMAGE = 'remove-image';
/**
 * Age of a staged row from which its upload can no longer arrive at the host. A call ends after CLOUDINARY_DEADLINE_MS. The host
 * may store the image later, so the margin is wide.
 */
const MAX_UPLOAD_S = (6 * CLOUDINARY_DEADLINE_MS) / 1000;
/** A larger backlog is left to the next sweeps, because each image needs a statement in the same transaction. */
const MAX_IMAGES_PER_SWEEP = 1_000;

/** Condemns images, and removes condemned images from their hosts with jobs. */
@Injectable()
export class ImageRemovalService implements OnModuleInit {
  readonly #logger = new Logger('Images');

  constructor(
    @InjectRepository(Image) private readonly images: Repository<Image>,
    private readonly hosts: ImageHosts,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<{ imageId: string }>(REMOVE_IMAGE, ({ imageId }) => this.#remove(imageId), 'images');
    const gapSeconds = Math.min(60, this.env.stagedImageTtlS / 4);
    this.jobs.repeat('sweep-abandoned-images', () => this.#sweep(), gapSeconds);
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
    for (const { id } of result.raw as { id: string }[])
      await this.jobs.enqueue(tx, REMOVE_IMAGE, { imageId: id }, { subject: id });
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
    const where = { state: 'staged', stagedAt: olderThan(this.env.stagedImageTtlS) } as const;
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
  }
}

function olderThan(seconds: number) {
  return Raw((column) => `${column} < now() - make_interval(secs => :seconds)`, { seconds });
}
