import type { OrderAction } from '../../api/client';
import { useTimeZone } from '../../api/shop';
import { formatDateAndTime, formatPrice } from '../../format';
import { t } from '../../i18n';

/** Steps, refusals, cancellations and refunds of an order, in plain words. */
export function OrderActionHistory({ actions }: { actions: OrderAction[] }) {
  const timeZone = useTimeZone();
  if (actions.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="actions">
      <h2 id="actions">{t('actions.title')}</h2>
      <ol className="history">
        {actions.map((action, index) => (
          <li key={index}>{describeAction(action, timeZone)}</li>
        ))}
      </ol>
    </section>
  );
}

function describeAction({ action, by, at, amount, reason }: OrderAction, timeZone: string) {
  const what =
    action === 'refund' ? t('actions.refund', { amount: formatPrice(amount ?? 0) }) : t(`actions.${action}`);
  const sentence = by === null ? what : t('actions.by', { what, name: by.fullname });
  const text = `${sentence}, ${formatDateAndTime(at, timeZone)}`;
  return reason === null ? text : `${text}: ${reason}`;
}
