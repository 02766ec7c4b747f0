type PopStateListener = (event: PopStateEvent) => void;

let guard: PopStateListener | undefined;

// `main.tsx` loads this file before React Router listens: listeners for steps in the history run in the order of registration.
window.addEventListener('popstate', (event) => guard?.(event));

/**
 * Sets a listener for the browser's back and forward buttons. The listener can hide a step from React Router. Returns a function
 * that removes the listener.
 */
export function guardHistory(listener: PopStateListener) {
  guard = listener;
  return () => {
    guard = undefined;
  };
}
