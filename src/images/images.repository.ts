import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Raw, Repository } from 'typeorm';
import { Image, type ImageHostName } from './image.entity.js';

/** An image that is stored at the host and does not belong to a product yet, with the URL that the host returned. */
export type StagedImage = Pick<Image, 'id' | 'url'>;

/** The image ledger. */
@Injectable()
export class ImagesRepository {
  constructor(@InjectRepository(Image) private readonly images: Repository<Image>) {}

  /** Adds images that are about to be uploaded. */
  async stage(ids: readonly string[], host: ImageHostName): Promise<void> {
    await this.images.insert(ids.map((id) => ({ id, host, state: 'staged' })));
  }

  findById(id: string): Promise<Image | null> {
    return this.images.findOneBy({ id });
  }

  /** Returns the images of a product in their order. */
  attachedTo(tx: EntityManager, productId: number): Promise<Image[]> {
    return tx.find(Image, { where: { productId }, order: { position: 'ASC' } });
  }

  /** @returns false if the image is no longer staged */
  async attach(
    tx: EntityManager,
    { id, ...attached }: Pick<Image, 'id' | 'url' | 'productId' | 'position'>,
  ): Promise<boolean> {
    const { affected } = await tx.update(Image, { id, state: 'staged' }, { state: 'attached', ...attached });
    return affected === 1;
  }

  /** Condemns the images that are in a state, and detaches them from their product. @returns the ids of these images */
  async condemn(
    tx: EntityManager,
    images: readonly Pick<Image, 'id'>[],
    from: 'staged' | 'attached',
  ): Promise<string[]> {
    const result = await tx
      .createQueryBuilder()
      .update(Image)
      .set({ state: 'condemned', productId: null, position: null })
      .where({ id: In(images.map(({ id }) => id)), state: from })
      .returning('id')
      .execute();
    return (result.raw as { id: string }[]).map(({ id }) => id);
  }

  /** Locks images that were staged longer ago and never attached, except those that another sweep has locked. */
  lockAbandoned(tx: EntityManager, ageSeconds: number): Promise<Pick<Image, 'id'>[]> {
    const isOld = Raw((column) => `${column} < now() - make_interval(secs => :ageSeconds)`, { ageSeconds });
    return tx.find(Image, {
      select: { id: true },
      where: { state: 'staged', stagedAt: isOld },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
  }

  /**
   * Deletes the row of a condemned image that was removed from its host.
   * @param settledSeconds age at which an unconfirmed upload can no longer arrive at the host
   * @returns false if the image was never attached and is younger than that
   */
  async deleteRow(id: string, settledSeconds: number): Promise<boolean> {
    const { affected } = await this.images
      .createQueryBuilder()
      .delete()
      .where({ id, state: 'condemned' })
      .andWhere('(url IS NOT NULL OR staged_at < now() - make_interval(secs => :settledSeconds))', {
        settledSeconds,
      })
      .execute();
    return affected === 1;
  }
}
