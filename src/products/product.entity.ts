import { Column, Entity, OneToMany, PrimaryGeneratedColumn, UpdateDateColumn, VirtualColumn } from 'typeorm';
import { Image } from '../images/image.entity.js';

/** `Product.isAvailable` as an SQL expression. */
export const isAvailableSql = (table: string) =>
  `(${table}.available OR coalesce(${table}.available_again_at <= now(), false))`;

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

  /** Choice of the administrator. `false` holds only until `availableAgainAt`, if that is set: see `isAvailable`. */
  @Column('boolean', { name: 'available', default: true })
  isSetAvailable!: boolean;

  /** Date from which the product is available again, `YYYY-MM-DD` in the shop's time zone. */
  @Column('date', { name: 'unavailable_until', nullable: true })
  unavailableUntil!: string | null;

  /** Start of the day `unavailableUntil`. */
  @Column('timestamptz', { name: 'available_again_at', nullable: true })
  availableAgainAt!: Date | null;

  @OneToMany(() => Image, 'product')
  images!: Image[];

  @UpdateDateColumn({ type: 'timestamptz', name: 'updated_at' })
  updatedAt!: Date;

  /** True if customers can see and order the product now. */
  @VirtualColumn({ type: 'boolean', query: (alias) => `SELECT ${isAvailableSql(alias)}` })
  isAvailable!: boolean;
}
