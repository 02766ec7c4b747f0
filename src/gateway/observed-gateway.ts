import { type CallOutcome, type Telemetry } from '../common/telemetry.js';
import {
  GatewayRefusedError,
  type GatewayTransaction,
  PaymentGateway,
  type PaymentPage,
  type TransactionRequest,
} from './payment-gateway.js';

/** A gateway whose calls are reported: how long they took and what became of them. */
export class ObservedGateway extends PaymentGateway {
  constructor(
    private readonly gateway: PaymentGateway,
    private readonly telemetry: Telemetry,
  ) {
    super();
  }

  override createTransaction(request: TransactionRequest, deadlineMs?: number): Promise<PaymentPage> {
    return this.#call('create', () => this.gateway.createTransaction(request, deadlineMs));
  }

  override status(orderId: string): Promise<GatewayTransaction | null> {
    return this.#call('status', () => this.gateway.status(orderId));
  }

  override cancel(orderId: string): Promise<GatewayTransaction | null> {
    return this.#call('cancel', () => this.gateway.cancel(orderId));
  }

  override expire(orderId: string): Promise<GatewayTransaction | null> {
    return this.#call('expire', () => this.gateway.expire(orderId));
  }

  #call<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return this.telemetry.call('gateway', operation, work, outcomeOf);
  }
}

function outcomeOf(error: unknown): CallOutcome {
  return error instanceof GatewayRefusedError ? 'refused' : 'failed';
}
