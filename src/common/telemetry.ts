import { Injectable } from '@nestjs/common';

/** What became of a payment notification that was answered (decisions.md, Payment notifications). */
export type NotificationOutcome =
  'applied' | 'duplicate' | 'stale' | 'test' | 'bad_signature' | 'invalid' | 'unknown_order' | 'failed';

/** What became of asking the gateway about an order; `found` is news that no notification had brought. */
export type ReconciliationOutcome = 'unchanged' | 'found' | 'expired' | 'outdated' | 'failed';

/** What became of an upload, before anybody looked at its pictures. */
export type UploadOutcome = 'received' | 'too_large' | 'malformed' | 'not_kept';

/** What became of a call of a neighbour: `refused` is an answer that says no. */
export type CallOutcome = 'ok' | 'refused' | 'failed';

/**
 * What happened, as plain values of few kinds each. No ids, addresses, texts or amounts: what is told here ends as
 * labels of time series, which are kept for long and shown to many.
 */
export type TelemetryEvent =
  | { readonly kind: 'order_created' }
  | { readonly kind: 'notification'; readonly outcome: NotificationOutcome }
  | { readonly kind: 'reconciliation'; readonly outcome: ReconciliationOutcome }
  | { readonly kind: 'mail_sent' }
  /** One try of a job. `failed` is tried again, `dead` is not. */
  | {
      readonly kind: 'job';
      readonly task: string;
      readonly lane: string;
      readonly outcome: 'done' | 'failed' | 'dead';
      readonly seconds: number;
    }
  | { readonly kind: 'upload_begun' }
  | { readonly kind: 'upload_ended'; readonly outcome: UploadOutcome; readonly bytes: number }
  /** A password or one-time code that somebody gave; `slowed` was not evaluated (docs/decisions/09). */
  | {
      readonly kind: 'proof';
      readonly secret: 'password' | 'code';
      readonly outcome: 'ok' | 'wrong' | 'slowed';
    }
  | {
      readonly kind: 'neighbour_call';
      readonly neighbour: 'gateway' | 'image_host';
      readonly operation: string;
      readonly outcome: CallOutcome;
      readonly seconds: number;
    };

/**
 * Where the parts of the service say what happened, without knowing who counts it. Nobody may be listening, and
 * nobody is waited for.
 */
@Injectable()
export class Telemetry {
  #listener: ((event: TelemetryEvent) => void) | null = null;

  /** Gives it its one listener, which must be quick and not throw. */
  listen(listener: (event: TelemetryEvent) => void): void {
    this.#listener = listener;
  }

  report(event: TelemetryEvent): void {
    this.#listener?.(event);
  }

  /**
   * Makes a call of a neighbour and reports it.
   * @param outcomeOf what a failure means; the failure itself is passed on
   */
  async call<T>(
    neighbour: 'gateway' | 'image_host',
    operation: string,
    work: () => Promise<T>,
    outcomeOf: (error: unknown) => CallOutcome = () => 'failed',
  ): Promise<T> {
    const began = performance.now();
    const report = (outcome: CallOutcome): void => {
      this.report({ kind: 'neighbour_call', neighbour, operation, outcome, seconds: secondsSince(began) });
    };
    try {
      const result = await work();
      report('ok');
      return result;
    } catch (error) {
      report(outcomeOf(error));
      throw error;
    }
  }
}

/** @param began what `performance.now()` was then */
export function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}
