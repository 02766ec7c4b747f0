import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';

export type ImageHostName = 'cloudinary' | 'local';

/**
 * A row of the image ledger. The row exists before the bytes reach the host and is deleted after the bytes are gone:
 * `staged → attached → condemned → (row deleted)`, or from staged to condemned.
 */
@Entity('images')
export class Image {
  /** Name at the host. Chosen before the upload, so that an upload whose response was lost can be removed. */
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'images_pkey' })
  id!: string;

  /** Host that stores the image, also after a change of IMAGE_HOST. */
  @Column('text')
  host!: ImageHostName;

  @Column('text')
  state!: 'staged' | 'attached' | 'condemned';

  /** Set only while the image is attached. */
  @Column('integer', { name: 'product_id', nullable: true })
  productId!: number | null;

  /** Other side of `Product.images`, referenced by name because this module must not import the products. */
  @ManyToOne('Product', 'images')
  @JoinColumn({ name: 'product_id', foreignKeyConstraintName: 'images_product_id_fkey' })
  product?: unknown;

  /** The images of a product are listed by ascending position. The positions may have gaps. */
  @Column('integer', { nullable: true })
  position!: number | null;

  /** Set when the image is attached. For the local host only the name of the file, because PUBLIC_URL may change. */
  @Column('text', { nullable: true })
  url!: string | null;

  @Column('timestamptz', { name: 'staged_at', default: () => 'now()' })
  stagedAt!: Date;
}
