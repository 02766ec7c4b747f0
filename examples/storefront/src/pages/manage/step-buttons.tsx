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

interface OrderStepProps {
  order: Order;
  isBusy: boolean;
  onTakeStep: (step: Fulfilment) => void;
}

interface NextStepButtonProps extends OrderStepProps {
  /** Distinguishes the button from those of other orders, for screen readers. */
  description?: string;
}

/** Button that takes an order to its next step. */
export function NextStepButton({ order, description, isBusy, onTakeStep }: NextStepButtonProps) {
  const next = getNextStep(order);
  if (next === null) return null;
  return (
    <Button isBusy={isBusy} onClick={() => onTakeStep(next)}>
      {t(`step.${next}`)}
      {description !== undefined && <span className="visually-hidden">, {description}</span>}
    </Button>
  );
}

/** Button that takes an order back to its previous step. */
export function PreviousStepButton({ order, isBusy, onTakeStep }: OrderStepProps) {
  const { previous } = ADJACENT_STEPS[order.fulfilment];
  if (previous === null) return null;
  return (
    <Button className="button quiet" isBusy={isBusy} onClick={() => onTakeStep(previous)}>
      {t('step.back', { step: t(`fulfilment.${previous}`) })}
    </Button>
  );
}

/**
 * Takes orders to a step, and shows a message with a button that undoes the step, unless it is the final refusal.
 * @returns the errors of the orders that failed, by order id
 */
export async function takeStep(orders: Order[], step: Fulfilment) {
  const { changed, errors } = await changeFulfilments(orders, () => step);
  if (changed.length > 0 && step !== 'refused')
    showToast(`${nameOrders(changed)}: ${t(`fulfilment.${step}`)}.`, {
      label: t('undo'),
      run: () => void undoStep(changed),
    });
  return { changed, errors };
}

/** Takes orders back to the steps that they had. */
async function undoStep(before: Order[]) {
  const { errors } = await changeFulfilments(before, ({ fulfilment }) => fulfilment);
  const [error] = Object.values(errors);
  showToast(error ? explain(error) : t('step.undone'));
}

/** Returns the number of a single order, otherwise the count: `2 orders`. */
function nameOrders(orders: Order[]) {
  const [first, second] = orders;
  if (first !== undefined && second === undefined) return formatOrderNumber(first.order_id);
  return t('count.orders', { count: orders.length });
}
