import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type EntitySubscriberInterface, type QueryRunner } from 'typeorm';

type Listener = (ids: readonly number[]) => void;

/** Tells what this process wrote to the catalog, once it is committed and before anybody is told of it. */
@Injectable()
export class ProductWrites implements EntitySubscriberInterface {
  readonly #written = new WeakMap<QueryRunner, Set<number>>();
  readonly #listeners: Listener[] = [];

  constructor(dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  onCommitted(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Notes that a transaction changes a product, which others see once it is committed. */
  note(tx: EntityManager, productId: number): void {
    const { queryRunner } = tx;
    if (queryRunner === undefined) throw new Error('a product is only written in a transaction');
    const ids = this.#written.get(queryRunner) ?? new Set();
    this.#written.set(queryRunner, ids.add(productId));
  }

  /** TypeORM's; it also ends a savepoint so, with the transaction still open. */
  afterTransactionCommit({ queryRunner }: { readonly queryRunner: QueryRunner }): void {
    const ids = this.#written.get(queryRunner);
    if (ids === undefined || queryRunner.isTransactionActive) return;
    this.#written.delete(queryRunner);
    for (const listener of this.#listeners) listener([...ids]);
  }
}
