import { Counter } from 'prom-client';
import { createCounter } from '../common/observability/metrics.js';
import { FULFILMENTS } from './order-status.js';

export const ordersCreated = new Counter({
  name: 'bakery_orders_created_total',
  help: 'Orders that were committed',
});

export const fulfilmentChanges = createCounter(
  'bakery_orders_fulfilment_total',
  'Fulfilment steps by administrators, by the step that the order reached',
  'fulfilment',
  FULFILMENTS,
);

export const surplusPayments = new Counter({
  name: 'bakery_payments_surplus_total',
  help: 'Transactions that added surplus to a paid order',
});
