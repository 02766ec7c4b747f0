import { Column, Entity, PrimaryColumn } from 'typeorm';

export type ImageHostName = 'cloudinary' | 'local';

/**
 * One line of the image ledger. It exists before its bytes reach the host and goes only after they are gone:
 * `staged → attached → condemned → (row deleted)`, or straight from staged to condemned.
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

  /** Set while attached. */
  @Column('integer', { name: 'product_id', nullable: true })
  productId!: number | null;

  /** Order within the product; gaps mean nothing. */
  @Column('integer', { nullable: true })
  position!: number | null;

  /** Known once attached. */
  @Column('text', { nullable: true })
  url!: string | null;

  @Column('timestamptz', { name: 'staged_at', default: () => 'now()' })
  stagedAt!: Date;
}
