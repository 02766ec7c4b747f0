import { useSession } from './session';
import { sharedStore } from './shared-store';

/** Details of the next order, as entered in the cart. */
export interface CheckoutDetails {
  phone: string;
  note: string;
  /** Instant as ISO 8601, null until the customer chooses one. */
  pickupAt: string | null;
}

const EMPTY: CheckoutDetails = { phone: '', note: '', pickupAt: null };

/** Details by the id of the customer. */
const useAllDetails = sharedStore<{ details: Record<string, CheckoutDetails> }>('bakery.details', {
  details: {},
});

/** Details of the person who is signed in. */
export function useCheckoutDetails() {
  const owner = useSession(({ person }) => person?.id ?? '');
  return useAllDetails(({ details }) => details[owner] ?? EMPTY);
}

export function changeCheckoutDetails(change: Partial<CheckoutDetails>) {
  const owner = useSession.getState().person?.id ?? '';
  const { details } = useAllDetails.getState();
  useAllDetails.setState({ details: { ...details, [owner]: { ...EMPTY, ...details[owner], ...change } } });
}

/** Keeps the phone number for the next order. */
export function clearCheckoutDetails() {
  changeCheckoutDetails({ note: '', pickupAt: null });
}
