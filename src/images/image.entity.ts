import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';

export type ImageHostName = 'cloudinary' | 'local';

/**
 * A row of the image ledger. It exists before its bytes reach the host and goes only after they are gone:
 * `staged → attached → condemned → (row deleted)`, or from staged to condemned.
 */
@Entity('images')
export class Image {
  /** Also the image's name at the host. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'images_pkey' })
  id!: string;

  /** The host that was asked to store it; a later change of IMAGE_HOST does not move it. */
  @Column('text')
  host!: ImageHostName;

  @Column('text')
  state!: 'staged' | 'attached' | 'condemned';

  /** Set while attached, and only then. */
  @Column('integer', { name: 'product_id', nullable: true })
  productId!: number | null;

  /** The other side of `Product.images`, named by its text: this module imports nothing of the products. */
  @ManyToOne('Product', 'images')
  @JoinColumn({ name: 'product_id', foreignKeyConstraintName: 'images_product_id_fkey' })
  product?: unknown;

  /** Order within the product; gaps mean nothing. */
  @Column('integer', { nullable: true })
  position!: number | null;

  /**
   * Set once attached. An absolute URL; of the local host only the file's name, because PUBLIC_URL may change:
   * `ImagesService.urlOf` makes it a URL.
   */
  @Column('text', { nullable: true })
  url!: string | null;

  @Column('timestamptz', { name: 'staged_at', default: () => 'now()' })
  stagedAt!: Date;
}
