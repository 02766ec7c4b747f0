import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ImageHosts } from './image-hosts.js';
import type { Image } from './image.entity.js';
import { ImagesRepository } from './images.repository.js';

const REMOVE_IMAGE = 'remove-image';
type RemoveImage = Readonly<{ imageId: string }>;

/** Exceeds the deadline of every host: after this time an upload whose response was lost can no longer arrive. */
const UPLOAD_SETTLED_S = 60;
const MAX_SWEEP_INTERVAL_S = 60;

/** Removes condemned images from their host in durable jobs, and condemns images that a crash left staged. */
@Injectable()
export class ImageRemovalService implements OnModuleInit {
  readonly #logger = new Logger('Images');

  constructor(
    private readonly dataSource: DataSource,
    private readonly images: ImagesRepository,
    private readonly hosts: ImageHosts,
    private readonly jobs: JobsService,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<RemoveImage>(REMOVE_IMAGE, ({ imageId }) => this.#remove(imageId), { kind: 'images' });
    const intervalS = Math.min(this.env.stagedImageTtlSeconds / 4, MAX_SWEEP_INTERVAL_S);
    this.jobs.repeatWhileRunning('the sweep of abandoned images', intervalS * 1000, () => this.#sweep());
  }

  /** Condemns the images that are in a state, and enqueues their removal. */
  async condemn(
    tx: EntityManager,
    images: readonly Pick<Image, 'id'>[],
    from: 'staged' | 'attached',
  ): Promise<void> {
    if (images.length === 0) return;
    for (const id of await this.images.condemn(tx, images, from)) await this.#enqueue(tx, id);
  }

  async #enqueue(tx: EntityManager, imageId: string, runAt?: Date): Promise<void> {
    await this.jobs.enqueue(tx, REMOVE_IMAGE, { imageId } satisfies RemoveImage, {
      key: `${REMOVE_IMAGE}:${imageId}`,
      isNeverGivenUp: true,
      ...(runAt !== undefined && { runAt }),
    });
  }

  async #remove(imageId: string): Promise<void> {
    const image = await this.images.findById(imageId);
    if (image?.state !== 'condemned') return;
    await this.hosts.remove(image.host, image.id);
    if (await this.images.deleteRow(image.id, UPLOAD_SETTLED_S)) return;
    // The upload was cut off and may still arrive at the host. Remove the image again when it can no longer arrive.
    const settledAt = new Date(image.stagedAt.getTime() + (UPLOAD_SETTLED_S + 1) * 1000);
    await this.#enqueue(this.dataSource.manager, image.id, settledAt);
  }

  async #sweep(): Promise<void> {
    const abandoned = await this.dataSource.transaction(async (tx) => {
      const images = await this.images.lockAbandoned(tx, this.env.stagedImageTtlSeconds);
      await this.condemn(tx, images, 'staged');
      return images;
    });
    if (abandoned.length > 0) this.#logger.log(`${abandoned.length} abandoned images were condemned`);
  }
}
