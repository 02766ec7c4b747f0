import { useSession } from './session';
import { createSharedStore } from './shared-store';

/** Details of the next order, as typed in the cart. */
export interface CheckoutDetails {
  phone: string;
  note: string;
  /** ISO 8601, null until the customer chooses a time. */
  pickup_at: string | null;
}

/** Entry in localStorage that contains the idempotency key of the next order and the order's body, so it is as private as the details. */
export const CHECKOUT_KEY_NAME = 'bakery.checkout';

const NONE = { phone: '', note: '', pickup_at: null, userId: null };

/** Details with the id of the user who typed them. Visitors do not see the form. */
export const useCheckoutDetails = createSharedStore<CheckoutDetails & { userId: number | null }>(
  'bakery.details',
  NONE,
  // Version 1 contains the details of several users.
  { version: 2, migrate: () => NONE },
);

export function changeCheckoutDetails(change: Partial<CheckoutDetails>) {
  useCheckoutDetails.setState({ ...change, userId: useSession.getState().user?.id ?? null });
}

/** Clears the details that belong to one order. The phone number stays for the next order. */
export function clearOrderDetails() {
  changeCheckoutDetails({ note: '', pickup_at: null });
}

/** Removes the details of another user, who may have left a shared computer without signing out. */
export function keepOnlyCheckoutDetailsOf(userId: number) {
  if (useCheckoutDetails.getState().userId !== userId) removeCheckoutDetails();
}

export function removeCheckoutDetails() {
  useCheckoutDetails.setState(NONE);
  localStorage.removeItem(CHECKOUT_KEY_NAME);
}
