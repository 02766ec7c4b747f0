import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Repository } from 'typeorm';
import { queryNamed } from '../config/named-statement.js';
import { Image, type ImageHostName } from './image.entity.js';

/** An image that the host has and no product yet. */
export interface StagedImage {
  readonly id: string;
  readonly url: string;
}

/** An image of a product. */
export interface AttachedImage extends StagedImage {
  readonly position: number;
}

/** Named, so that each connection parses and plans it once. */
const STAGE = {
  name: 'images-stage',
  text: `INSERT INTO images (id, host, state) SELECT id, $2, 'staged' FROM unnest($1::uuid[]) AS id`,
};
const ATTACH = {
  name: 'images-attach',
  text: `
    UPDATE images SET state = 'attached', product_id = $1, url = staged.url, position = $4 + staged.ordinality - 1
    FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS staged (id, url, ordinality)
    WHERE images.id = staged.id AND images.state = 'staged'
    RETURNING images.id`,
};

@Injectable()
export class ImagesRepository {
  constructor(@InjectRepository(Image) private readonly images: Repository<Image>) {}

  async stage(ids: readonly string[], host: ImageHostName): Promise<void> {
    await queryNamed(this.images.manager, STAGE, [ids, host]);
  }

  findById(id: string): Promise<Image | null> {
    return this.images.findOneBy({ id });
  }

  /** A product's images in their order. */
  async attachedTo(productId: number, tx: EntityManager = this.images.manager): Promise<AttachedImage[]> {
    const images = await tx.find(Image, {
      where: { productId, state: 'attached' },
      order: { position: 'ASC' },
    });
    return images.map(({ id, url, position }) => ({ id, url: url ?? '', position: position ?? 0 }));
  }

  /** @returns how many of the images were still staged, and are attached now */
  async attach(
    tx: EntityManager,
    productId: number,
    images: readonly StagedImage[],
    firstPosition: number,
  ): Promise<number> {
    const rows = await queryNamed(tx, ATTACH, [
      productId,
      images.map(({ id }) => id),
      images.map(({ url }) => url),
      firstPosition,
    ]);
    return rows.length;
  }

  /** Takes images from their product. */
  async condemnAttached(tx: EntityManager, ids: readonly string[]): Promise<void> {
    await tx.update(
      Image,
      { id: In(ids), state: 'attached' },
      { state: 'condemned', productId: null, position: null },
    );
  }

  /**
   * Condemns images that no product has.
   * @returns the ids of those, the ones already condemned included
   */
  async condemnUnattached(tx: EntityManager, ids: readonly string[]): Promise<string[]> {
    const [rows] = await tx.query<[{ id: string }[], number]>(
      `UPDATE images SET state = 'condemned' WHERE id = ANY ($1) AND state <> 'attached' RETURNING id`,
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  /** Ids of images that were staged longer ago and never attached, locked; those that another sweep has are left out. */
  async lockAbandoned(tx: EntityManager, ageSeconds: number, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }[]>(
      `SELECT id FROM images WHERE state = 'staged' AND staged_at < now() - make_interval(secs => $1)
       ORDER BY staged_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
      [ageSeconds, limit],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Strikes a condemned image off the ledger.
   * @param settledSeconds age at which an upload whose end is unknown can no longer arrive at the host
   * @returns false when the image was never attached and is younger than that
   */
  async strikeOff(id: string, settledSeconds: number): Promise<boolean> {
    const result = await this.images
      .createQueryBuilder()
      .delete()
      .where(`id = :id AND state = 'condemned'`, { id })
      .andWhere('(url IS NOT NULL OR staged_at < now() - make_interval(secs => :settledSeconds))', {
        settledSeconds,
      })
      .execute();
    return result.affected === 1;
  }
}
