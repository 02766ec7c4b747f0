import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { DataSource } from 'typeorm';
import type { Order } from '../orders/order.entity.js';
import { OrdersModule } from '../orders/orders.module.js';
import { OrdersService } from '../orders/orders.service.js';
import { PaymentHistoryService } from '../payments/payment-history.service.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { RefundCompletionService } from '../payments/refund-completion.service.js';
import { type Command, readAction, readArgs, runCommand, UsageError } from './command-line.js';
import { withServices } from './with-services.js';

const REFUND_ID_DESCRIPTION =
  'the id of a refund, which npm run jobs -- list shows as the subject of settle-refund';

const HELP = `Repairs payments, and rejects refunds that have no result.

  npm run payments -- repair            recomputes, from the history, the payment of each order that has several payment events
  npm run payments -- reject-refund ID  ends a refund that the gateway never answers; ID: the subject of the job settle-refund

repair: version 1.2 let a late message about one transaction overwrite the payment of another, so a paid order could become
unpaid. Run it once after the upgrade, when no process of 1.2 runs. It prints each changed order with the status before and
after. The customer of an order that becomes paid for the first time gets the receipt or, if the order was refused, the mail
about the refusal. A second run changes nothing.

reject-refund: a job retries a refund until the gateway returns a result. Until then, the order accepts no other refund. First
check at the gateway that the refund was not made. Afterwards the amount can be refunded again. While a request or job calls the
gateway, the command changes nothing and exits with 1.

The command uses the settings of the service and can be used while the service runs.
Exit codes: 0 done (also if there was nothing to change), 1 not done, 2 wrong usage.
`;

@Injectable()
class PaymentsCommand {
  constructor(
    private readonly dataSource: DataSource,
    private readonly orders: OrdersService,
    private readonly history: PaymentHistoryService,
    private readonly refunds: RefundCompletionService,
  ) {}

  async rejectRefund(refundId: string): Promise<void> {
    const isRejected = await this.refunds.reject(
      refundId,
      'an operator ended it, because the gateway gave no result',
    );
    if (!isRejected) throw new Error(`refund ${refundId}: there is no such refund, or it has a result`);
    console.log(`refund ${refundId}: rejected`);
  }

  async repair(): Promise<void> {
    const orderIds = await this.history.listOrdersWithSeveralEvents();
    let changedCount = 0;
    for (const orderId of orderIds) {
      const change = await this.#repairOrder(orderId);
      if (change === null) continue;
      console.log(`${orderId}\t${change}`);
      changedCount += 1;
    }
    console.log(`${changedCount} of ${orderIds.length} orders with several payment events were changed`);
  }

  /** Returns the payment before and after; null if the order was not changed. */
  #repairOrder(orderId: string): Promise<string | null> {
    return this.dataSource.transaction(async (tx) => {
      const order = await this.orders.lockOrFail(tx, orderId);
      const before = describePayment(order);
      // `repair` also updates `order`.
      if (!(await this.history.repair(tx, order))) return null;
      return `${before} → ${describePayment(order)}, surplus ${order.surplusAmount}`;
    });
  }
}

function describePayment({ status, transactionId }: Pick<Order, 'status' | 'transactionId'>): string {
  return `${status} (transaction ${transactionId ?? 'none'})`;
}

function parse(args: string[]): Command {
  const { positionals } = readArgs({ args, allowPositionals: true });
  const { action, argument: refundId } = readAction(positionals, {
    repair: null,
    'reject-refund': REFUND_ID_DESCRIPTION,
  });
  if (action === 'reject-refund' && !isUUID(refundId))
    throw new UsageError(`reject-refund needs ${REFUND_ID_DESCRIPTION}`);
  return withServices(PaymentsCommand, { imports: [OrdersModule, PaymentsModule] }, (command) =>
    action === 'repair' ? command.repair() : command.rejectRefund(refundId),
  );
}

runCommand(HELP, parse);
