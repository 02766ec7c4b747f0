import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Fulfilment, Order } from '../../api/client';
import { explain } from '../../api/errors';
import { changeFulfilments } from '../../api/orders';
import { Button } from '../../components/button';
import { formatOrderNumber } from '../../format';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';

/** Steps before and after each step of an order. A refusal is final. */
const ADJACENT_STEPS = {
  new: { next: 'preparing', previous: null },
  preparing: { next: 'ready', previous: 'new' },
  ready: { next: 'collected', previous: 'preparing' },
  collected: { next: null, previous: 'ready' },
  refused: { next: null, previous: null },
} as const;

/** Returns the next step of an order toward `collected`, or null. */
export function getNextStep({ fulfilment }: Order) {
  return ADJACENT_STEPS[fulfilment].next;
}

/** Returns true until the order was collected or refused. */
export function canRefuse({ fulfilment }: Order) {
  return fulfilment !== 'collected' && fulfilment !== 'refused';
}

interface StepCallbacks {
  onStart: () => void;
  onTaken: (step: Fulfilment) => void;
  onError: (error: Error) => void;
}

/** Returns the error of the latest step that failed, until another step starts, and the callbacks that track the error. */
export function useStepError(onFailed: () => void) {
  const [error, setError] = useState<Error | null>(null);
  return { error, callbacks: trackStepError(setError, onFailed) };
}

/** Returns callbacks that set the error of the latest step that failed, and reset the error when another step starts. */
export function trackStepError(setError: (error: Error | null) => void, onFailed: () => void) {
  const onStart = () => setError(null);
  const onError = (error: Error) => {
    setError(error);
    onFailed();
  };
  return { onStart, onError };
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
  const { previous } = ADJACENT_STEPS[order.fulfilment];
  if (previous === null) return null;
  return (
    <StepButton orders={[order]} step={previous} className="button quiet" {...callbacks}>
      {t('step.back', { step: t(`fulfilment.${previous}`) })}
    </StepButton>
  );
}

/** Orders, and the step that all of them take. */
interface Step {
  orders: Order[];
  step: Fulfilment;
}

interface StepButtonProps extends Step, StepCallbacks {
  className?: string;
  children: ReactNode;
}

/** Button that takes orders to the same step. The message after the step has a button that undoes the step. */
export function StepButton(props: StepButtonProps) {
  const { orders, step, className, onStart, onTaken, onError, children } = props;
  const { mutate, isPending } = useMutation({
    mutationFn: takeStep,
    onMutate: onStart,
    // Use the step of the pressed button. After a reload of the orders, `step` is already the following step.
    onSuccess: (_, taken) => onTaken(taken.step),
    onError,
  });
  return (
    <Button
      className={className}
      isBusy={isPending}
      // Enter that is held down must not take the following steps.
      onKeyDown={(event) => event.key === 'Enter' && event.repeat && event.preventDefault()}
      onClick={() => mutate({ orders, step })}
    >
      {children}
    </Button>
  );
}

/**
 * Takes orders to a step, and shows a message with a button that undoes the step. Then throws the first failure.
 */
async function takeStep({ orders, step }: Step) {
  const { changed, failure } = await changeFulfilments(orders, () => step);
  if (changed.length > 0)
    showToast(`${nameOrders(changed)}: ${t(`fulfilment.${step}`)}.`, {
      label: t('undo'),
      run: () => void undoStep(changed),
    });
  if (failure) throw failure;
}

/** Takes orders back to the steps that they had. */
async function undoStep(before: Order[]) {
  const { failure } = await changeFulfilments(before, ({ fulfilment }) => fulfilment);
  showToast(failure ? explain(failure) : t('step.undone'));
}

/** Returns the number of a single order, otherwise the count: `2 orders`. */
function nameOrders(orders: Order[]) {
  const [first, second] = orders;
  if (first !== undefined && second === undefined) return formatOrderNumber(first.order_id);
  return t('count.orders', { count: orders.length });
}
