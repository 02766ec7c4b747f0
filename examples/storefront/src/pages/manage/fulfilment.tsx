import { useMutation } from '@tanstack/react-query';
import type { MouseEvent } from 'react';
import type { Fulfilment, Order } from '../../api/client';
import { setFulfilment } from '../../api/orders';
import { Button } from '../../components/button';

/** Next step toward `collected` and the label of its button, by current step. */
const NEXT_STEPS: Partial<Record<Fulfilment, [Fulfilment, string]>> = {
  new: ['preparing', 'Start preparing'],
  preparing: ['ready', 'Ready to be collected'],
  ready: ['collected', 'Handed over'],
};

/** Returns the next step of an order and the label of its button, or an empty array. */
export function getNextStep({ fulfilment }: Order) {
  return NEXT_STEPS[fulfilment] ?? [];
}

interface StepButtonProps {
  order: Order;
  /** Distinguishes the button from those of other orders, for screen readers. */
  description?: string;
  onTaken?: (step: Fulfilment) => void;
  /** Called with null when the button is pressed, so that the message of an earlier error disappears. */
  onError: (error: Error | null) => void;
}

/** Button that takes an order to its next step. */
export function StepButton({ order, description, onTaken, onError }: StepButtonProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: (step: Fulfilment) => setFulfilment(order.order_id, step),
    onMutate: () => onError(null),
    onSuccess: (_, step) => onTaken?.(step),
    onError,
  });
  const [next, label] = getNextStep(order);
  if (next === undefined) return null;
  const takeNext = ({ detail }: MouseEvent) => {
    // `Button` ignores clicks only while the request runs. If the response is fast, the second click of a double-click
    // must not take the following step.
    if (detail < 2) mutate(next);
  };
  return (
    <Button aria-disabled={isPending} onClick={takeNext}>
      {label}
      {description !== undefined && <span className="visually-hidden">, {description}</span>}
    </Button>
  );
}
