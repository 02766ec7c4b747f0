import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsService } from '../jobs/jobs.service.js';
import { ImageHosts } from './image-hosts.js';
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
    const pauseS = Math.min(this.env.stagedImageTtlSeconds / 4, MAX_SWEEP_INTERVAL_S);
    this.jobs.repeatWhileRunning('the sweep of abandoned images', pauseS * 1000, () => this.#sweep());
  }

  /** Condemns images (see `ImagesRepository.condemn`) and enqueues their removal. */
  async condemn(tx: EntityManager, ids: readonly string[], which: 'attached' | 'unattached'): Promise<void> {
    if (ids.length === 0) return;
    for (const id of await this.images.condemn(tx, ids, which)) await this.#enqueue(tx, id);
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
    const settled = new Date(image.stagedAt.getTime() + (UPLOAD_SETTLED_S + 1) * 1000);
    await this.#enqueue(this.dataSource.manager, image.id, settled);
  }

  async #sweep(): Promise<void> {
    const swept = await this.dataSource.transaction(async (tx) => {
      const ids = await this.images.lockAbandoned(tx, this.env.stagedImageTtlSeconds);
      await this.condemn(tx, ids, 'unattached');
      return ids.length;
    });
    if (swept > 0) this.#logger.log(`${swept} abandoned images were condemned`);
  }
}
