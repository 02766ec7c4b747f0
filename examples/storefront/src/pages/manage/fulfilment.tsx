import { useMutation } from '@tanstack/react-query';
import type { MouseEvent, ReactNode } from 'react';
import type { Fulfilment, Order } from '../../api/client';
import { explain } from '../../api/errors';
import { setFulfilment } from '../../api/orders';
import { Button } from '../../components/button';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';

/** Next and previous step of an order, by current step. A refusal is final. */
const STEPS = {
  new: { next: 'preparing', previous: null },
  preparing: { next: 'ready', previous: 'new' },
  ready: { next: 'collected', previous: 'preparing' },
  collected: { next: null, previous: 'ready' },
  refused: { next: null, previous: null },
} as const;

/** Returns the next step of an order toward `collected`, or null. */
export function getNextStep({ fulfilment }: Order) {
  return STEPS[fulfilment].next;
}

/** Returns true until the order was collected or refused. */
export function canRefuse({ fulfilment }: Order) {
  return fulfilment !== 'collected' && fulfilment !== 'refused';
}

interface StepCallbacks {
  onTaken?: (step: Fulfilment) => void;
  /** Called with null when the button is pressed, so that the message of an earlier error disappears. */
  onError: (error: Error | null) => void;
}

export interface OrderStepProps extends StepCallbacks {
  order: Order;
  /** Distinguishes the button from those of other orders, for screen readers. */
  description?: string;
}

/** Button that takes an order to its next step. */
export function NextStepButton({ order, description, ...callbacks }: OrderStepProps) {
  const next = getNextStep(order);
  if (next === null) return null;
  return (
    <StepButton orders={[order]} step={next} {...callbacks}>
      {t(`step.${next}`)}
      {description !== undefined && <span className="visually-hidden">, {description}</span>}
    </StepButton>
  );
}

/** Button that takes an order back to its previous step. */
export function PreviousStepButton({ order, ...callbacks }: OrderStepProps) {
  const { previous } = STEPS[order.fulfilment];
  if (previous === null) return null;
  return (
    <StepButton orders={[order]} step={previous} className="button quiet" {...callbacks}>
      {t('step.back', { step: t(`fulfilment.${previous}`) })}
    </StepButton>
  );
}

interface StepProps extends StepCallbacks {
  orders: Order[];
  step: Fulfilment;
  className?: string;
  children: ReactNode;
}

/** Button that takes orders to the same step. The message after the step has a button that undoes the step. */
export function StepButton({ orders, step, className, onTaken, onError, children }: StepProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: takeStep,
    onMutate: () => onError(null),
    // Use the orders of the pressed button. The page may already show them after the step, and then `step` is the following step.
    onSuccess: (_, taken) => {
      const [first] = taken.orders;
      const name = first && taken.orders.length === 1 ? formatOrderNumber(first.order_id) : undefined;
      const subject = name ?? t('count.orders', { count: taken.orders.length });
      showToast(`${subject}: ${t(`fulfilment.${taken.step}`)}.`, {
        label: t('step.undo'),
        run: () => void undo(taken.orders),
      });
      onTaken?.(taken.step);
    },
    onError,
  });
  // `Button` ignores clicks only while the request runs. If the response is fast, the second click of a double-click must
  // not take the following step.
  const take = ({ detail }: MouseEvent) => detail < 2 && mutate({ orders, step });
  return (
    <Button className={className} aria-disabled={isPending} onClick={take}>
      {children}
    </Button>
  );
}

async function takeStep({ orders, step }: Pick<StepProps, 'orders' | 'step'>) {
  for (const { order_id } of orders) await setFulfilment(order_id, step);
}

/** Takes orders back to the steps that they had. */
async function undo(orders: Order[]) {
  try {
    for (const { order_id, fulfilment } of orders) await setFulfilment(order_id, fulfilment);
    showToast(t('step.undone'));
  } catch (error) {
    showToast(explain(error));
  }
}
