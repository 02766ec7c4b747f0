import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, IsNull, Not, Raw, Repository } from 'typeorm';
import { Image, type ImageHostName } from './image.entity.js';

/** An image that is stored at the host and does not belong to a product yet, with the URL that the host returned. */
export type StagedImage = Pick<Image, 'id' | 'url'>;

/** The image ledger. */
@Injectable()
export class ImagesRepository {
  constructor(@InjectRepository(Image) private readonly images: Repository<Image>) {}

  /** Adds images that are about to be uploaded. */
  async stage(images: readonly Pick<Image, 'id'>[], host: ImageHostName): Promise<void> {
    await this.images.insert(images.map(({ id }) => ({ id, host, state: 'staged' })));
  }

  findById(id: string): Promise<Image | null> {
    return this.images.findOneBy({ id });
  }

  /** @returns false if the image is no longer staged */
  async attach(
    tx: EntityManager,
    { id, ...attached }: Pick<Image, 'id' | 'url' | 'productId' | 'position'>,
  ): Promise<boolean> {
    const { affected } = await tx.update(Image, { id, state: 'staged' }, { state: 'attached', ...attached });
    return affected === 1;
  }

  /** Condemns and detaches the images that are still in the state `from`. @returns the ids of these images */
  async condemn(tx: EntityManager, ids: readonly string[], from: 'staged' | 'attached'): Promise<string[]> {
    const result = await tx
      .createQueryBuilder()
      .update(Image)
      .set({ state: 'condemned', productId: null, position: null })
      .where({ id: In(ids), state: from })
      .returning('id')
      .execute();
    return (result.raw as { id: string }[]).map(({ id }) => id);
  }

  /** Locks staged images that are older than `ageSeconds`, except images that another sweep has locked. */
  lockAbandoned(tx: EntityManager, ageSeconds: number): Promise<Pick<Image, 'id'>[]> {
    return tx.find(Image, {
      select: { id: true },
      where: { state: 'staged', stagedAt: isOlderThan(ageSeconds) },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
  }

  /**
   * Deletes the row of a condemned image that was removed from its host.
   * @param settledSeconds age at which an unconfirmed upload can no longer arrive at the host
   * @returns false if the row stays, because the image was never attached and is younger than `settledSeconds`
   */
  async deleteRow(id: string, settledSeconds: number): Promise<boolean> {
    const condemned = { id, state: 'condemned' } as const;
    const { affected } = await this.images.delete([
      { ...condemned, url: Not(IsNull()) },
      { ...condemned, stagedAt: isOlderThan(settledSeconds) },
    ]);
    return affected === 1;
  }
}

function isOlderThan(seconds: number) {
  return Raw((column) => `${column} < now() - make_interval(secs => :seconds)`, { seconds });
}
