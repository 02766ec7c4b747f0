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

/** Details by user id. Visitors have none: only signed-in users see the form. */
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

/** Clears the details that belong to one order. The phone number stays for the next order. */
export function clearOrderDetails() {
  changeCheckoutDetails({ note: '', pickup_at: null });
}

/** Removes the details of all other users: somebody may have left a shared computer without signing out. */
export function keepOnlyCheckoutDetailsOf(userId: number) {
  const { [userId]: own = EMPTY } = useAllDetails.getState().details;
  useAllDetails.setState({ details: { [userId]: own } });
}

export function removeCheckoutDetails() {
  useAllDetails.setState({ details: {} });
}
