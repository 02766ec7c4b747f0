import { Injectable } from '@nestjs/common';
import { Env } from '../../config/env.js';
import {
  GatewayRefusedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type TransactionRequest,
} from '../payment-gateway.js';
import { gatewayAnswer } from './notification-body.js';
import { isChosen } from './simulator-transaction.entity.js';
import { SimulatorService } from './simulator.service.js';

/**
 * A payment gateway that takes no money: its page lets one choose what becomes of a payment, and the service hears
 * of it as from the real one. What it knows lies in the service's database, whose errors it passes on.
 */
@Injectable()
export class SimulatorGateway extends PaymentGateway {
  constructor(
    private readonly simulator: SimulatorService,
    private readonly env: Env,
  ) {
    super();
  }

  override async createTransaction(request: TransactionRequest): Promise<PaymentPage> {
    refuseUnless(
      Number.isSafeInteger(request.grossAmount) && request.grossAmount > 0,
      'gross_amount must be a whole number above 0',
    );
    const sum = request.items.reduce((total, { price, quantity }) => total + price * quantity, 0);
    refuseUnless(sum === request.grossAmount, 'gross_amount is not the sum of the items');
    const token = await this.simulator.create(request);
    if (token === null) throw new GatewayRefusedError('order_id was used before', { isOrderIdTaken: true });
    return { token, redirectUrl: `${this.env.publicUrl}/api/simulator/${token}` };
  }

  override async status(orderId: string): Promise<GatewayTransaction | null> {
    const transaction = await this.simulator.find(orderId);
    return transaction === null || !isChosen(transaction)
      ? null
      : gatewayAnswer(transaction, this.env.payment.serverKey);
  }

  override cancel(orderId: string): Promise<GatewayTransaction | null> {
    return this.#change(orderId, 'cancel');
  }

  override expire(orderId: string): Promise<GatewayTransaction | null> {
    return this.#change(orderId, 'expire');
  }

  async #change(orderId: string, status: 'cancel' | 'expire'): Promise<GatewayTransaction | null> {
    const result = await this.simulator.change(orderId, status);
    if (result === null) return null;
    const { transaction, isChanged } = result;
    refuseUnless(isChanged, `a transaction in ${transaction.transactionStatus} does not become ${status}`);
    return gatewayAnswer(transaction, this.env.payment.serverKey);
  }
}

function refuseUnless(condition: boolean, message: string): void {
  if (!condition) throw new GatewayRefusedError(message);
}
