import { useSession } from './session';
import { createSharedStore } from './shared-store';

/** Details of the next order, as typed in the cart. */
export interface CheckoutDetails {
  phone: string;
  note: string;
  /** ISO 8601, null until the customer chooses a time. */
  pickup_at: string | null;
}

const EMPTY: CheckoutDetails = { phone: '', note: '', pickup_at: null };

/** Details by user id. The details of a visitor who is not signed in have the key ''. */
const useAllDetails = createSharedStore<{ details: Record<string, CheckoutDetails> }>('bakery.details', {
  details: {},
});

export function useCheckoutDetails() {
  const owner = useSession(({ user }) => user?.id ?? '');
  return useAllDetails(({ details }) => details[owner] ?? EMPTY);
}

export function changeCheckoutDetails(change: Partial<CheckoutDetails>) {
  const owner = useSession.getState().user?.id ?? '';
  const { details } = useAllDetails.getState();
  useAllDetails.setState({ details: { ...details, [owner]: { ...EMPTY, ...details[owner], ...change } } });
}

// A shared computer must not keep the phone number and the note of a person who has left.
useSession.subscribe(({ user }, previous) => {
  if (previous.user === null || user?.id === previous.user.id) return;
  const { [previous.user.id]: _, ...details } = useAllDetails.getState().details;
  useAllDetails.setState({ details });
});

/** Clears all details except the phone number. */
export function clearCheckoutDetails() {
  changeCheckoutDetails({ note: '', pickup_at: null });
}
