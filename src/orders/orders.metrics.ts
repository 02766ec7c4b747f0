import { Counter } from 'prom-client';
import { createCounter } from '../common/observability/metrics.js';

export const ordersCreated = new Counter({
  name: 'bakery_orders_created_total',
  help: 'Orders that were committed',
});

export const orderSteps = createCounter(
  'bakery_orders_fulfilment_total',
  'Changes of the fulfilment that administrators made, by new fulfilment',
  { fulfilment: ['preparing', 'ready', 'collected', 'refused'] },
);

export const surplusPayments = new Counter({
  name: 'bakery_payments_surplus_total',
  help: 'Payments of orders that were already paid: money to return',
});
