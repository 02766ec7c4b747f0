import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersRepository {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  findById(orderId: string): Promise<Order | null> {
    return this.orders.findOneBy({ orderId });
  }

  async insert(tx: EntityManager, order: Pick<Order, 'orderId' | 'userId' | 'grossAmount'>): Promise<void> {
    await tx.insert(Order, order);
  }

  /** Locks an order, so that what is known of its payment is applied in one order by all processes. */
  lock(tx: EntityManager, orderId: string): Promise<Order | null> {
    return tx.findOne(Order, { where: { orderId }, lock: { mode: 'pessimistic_write' } });
  }

  async update(
    tx: EntityManager,
    orderId: string,
    change: Partial<Omit<Order, 'orderId' | 'userId' | 'createdAt' | 'updatedAt'>>,
  ): Promise<void> {
    await tx.update(Order, { orderId }, { ...change, updatedAt: () => 'now()' });
  }
}
