import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Columns of an item that clients see. */
export type SoldItem = Readonly<Pick<OrderItem, 'productId' | 'name' | 'price' | 'quantity'>>;

/** Item of an order, with name and price as sold. The product may have changed or been deleted since. */
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

  @Column('bigint')
  price!: number;

  @Column('smallint')
  quantity!: number;
}
