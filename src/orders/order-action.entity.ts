import { Column, CreateDateColumn, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { User } from '../users/user.entity.js';
import type { Fulfilment } from './order-status.js';

@Entity('order_actions')
export class OrderAction {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', primaryKeyConstraintName: 'order_actions_pkey' })
  id!: number;

  @Column('uuid', { name: 'order_id' })
  orderId!: string;

  @Column('text')
  action!: Fulfilment | 'cancel' | 'refund';

  /** Null for actions before version 1.3: their user was not stored. */
  @Column('integer', { name: 'user_id', nullable: true })
  userId!: number | null;

  @ManyToOne(() => User)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'order_actions_user_id_fkey' })
  user!: User | null;

  /** Whole rupiah of a refund. */
  @Column('bigint', { nullable: true })
  amount!: number | null;

  @Column('varchar', { length: 255, nullable: true })
  reason!: string | null;

  @CreateDateColumn({ type: 'timestamptz', name: 'created_at' })
  createdAt!: Date;
}
