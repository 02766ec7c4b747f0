import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A line of an order, with name and price as sold; the product may change or go. */
@Entity('order_items')
export class OrderItem {
  @PrimaryColumn('uuid', { name: 'order_id', primaryKeyConstraintName: 'order_items_pkey' })
  orderId!: string;

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'order_items_pkey' })
  position!: number;

  @Column('integer', { name: 'product_id' })
  productId!: number;

  @Column('varchar', { length: 255 })
  name!: string;

  /** Whole rupiah, as PostgreSQL writes a bigint. */
  @Column('bigint')
  price!: string;

  @Column('smallint')
  quantity!: number;
}
