import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { ORDER_ACTIONS, OrderAction } from './order-action.entity.js';

export { ORDER_ACTIONS, type OrderAction };

type NewAction = Pick<OrderAction, 'orderId' | 'action' | 'userId'> &
  Partial<Pick<OrderAction, 'amount' | 'reason'>>;

/** Log of what people did to orders. */
@Injectable()
export class OrderActionsService {
  constructor(@InjectRepository(OrderAction) private readonly actions: Repository<OrderAction>) {}

  async record(tx: EntityManager, action: NewAction): Promise<void> {
    await tx.insert(OrderAction, action);
  }

  /** Returns the actions of an order with their users, oldest first. */
  list(orderId: string): Promise<OrderAction[]> {
    return this.actions.find({ where: { orderId }, relations: { user: true }, order: { id: 'ASC' } });
  }
}
