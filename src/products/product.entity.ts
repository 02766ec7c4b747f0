import { Column, Entity, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { Image } from '../images/image.entity.js';

@Entity('products')
export class Product {
  @PrimaryGeneratedColumn('identity', { type: 'integer', primaryKeyConstraintName: 'products_pkey' })
  id!: number;

  @Column('varchar', { length: 255 })
  name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  /** Rupiah, a decimal with two places as PostgreSQL writes it. */
  @Column('numeric', { precision: 14, scale: 2 })
  price!: string;

  /** Images that were condemned are no longer among them. */
  @OneToMany(() => Image, 'product')
  images!: Image[];

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'updated_at', default: () => 'now()' })
  updatedAt!: Date;
}
