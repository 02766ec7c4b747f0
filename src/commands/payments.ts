import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { DataSource } from 'typeorm';
import { OrdersModule } from '../orders/orders.module.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentHistoryService } from '../payments/payment-history.service.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { RefundSettlementService } from '../payments/refund-settlement.service.js';
import { type Command, readAction, readArgs, runCommand, UsageError } from './command-line.js';
import { print } from './output.js';
import { withServices } from './with-services.js';

const BATCH = 500;

const ID = 'the id of a refund, as npm run jobs -- list shows it';

const HELP = `Repairs payments and ends refunds without a result.

  npm run payments -- repair            computes the payment of each order with several payment events from its history again
  npm run payments -- reject-refund ID  ends a refund that the gateway never answers; ID as in npm run jobs -- list

Version 1.2 let a late message about one transaction overwrite the payment of another, so a paid order could become
unpaid. The command prints each order that it changes, with the status before and after. An order that becomes paid for
the first time gets its receipt. Run it once after the upgrade, when no process of version 1.2 runs any more.
A refund without a result is repeated by a job, and the order accepts no other refund until then. Before you end one, find
out at the gateway that it was not made: the service counts it as rejected, and the money can be returned again.
The command uses the settings of the service and can be used while the service runs. A second repair changes nothing.
Exit codes: 0 done (also if there was nothing to change), 1 not done, 2 wrong usage.
`;

@Injectable()
class PaymentsCommand {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly refunds: RefundSettlementService,
  ) {}

  async rejectRefund(refundId: string): Promise<void> {
    const isRejected = await this.refunds.reject(
      refundId,
      'an operator ended it, because the gateway gave no result',
    );
    if (!isRejected) throw new Error(`refund ${refundId}: there is no such refund, or it has a result`);
    print(`refund ${refundId}: rejected`);
  }

  async repair(): Promise<void> {
    let [read, changed, lastId] = [0, 0, '00000000-0000-0000-0000-000000000000'];
    for (;;) {
      const ids = await this.#listOrders(lastId);
      for (const orderId of ids) if (await this.#repairOrder(orderId)) changed += 1;
      read += ids.length;
      lastId = ids.at(-1) ?? lastId;
      if (ids.length < BATCH) break;
    }
    print(`${changed} of ${read} orders with several payment events were changed`);
  }

  /** SQL, because the entity of payment events belongs to payments. */
  async #listOrders(after: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ order_id: string }[]>(
      `SELECT order_id FROM payment_notifications WHERE order_id > $1 AND outcome <> 'rejected'
       GROUP BY order_id HAVING count(*) > 1 ORDER BY order_id LIMIT ${BATCH}`,
      [after],
    );
    return rows.map(({ order_id }) => order_id);
  }

  #repairOrder(orderId: string): Promise<boolean> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const describe = () => `${order.status} (transaction ${order.transactionId ?? 'none'})`;
      const before = describe();
      const isChanged = await this.history.repair(tx, order);
      if (isChanged) print(`${orderId}\t${before} → ${describe()}, surplus ${order.surplusAmount}`);
      return isChanged;
    });
  }
}

function parse(args: string[]): Command {
  const { positionals } = readArgs({ args, allowPositionals: true });
  const { action, argument } = readAction(positionals, { repair: null, 'reject-refund': ID });
  if (action === 'reject-refund' && !isUUID(argument)) throw new UsageError(`reject-refund needs ${ID}`);
  return async (env, open) => {
    const module = { imports: [OrdersModule, PaymentsModule] };
    await withServices(env, await open(), module, PaymentsCommand, (command) =>
      action === 'repair' ? command.repair() : command.rejectRefund(argument),
    );
  };
}

runCommand(HELP, parse);
