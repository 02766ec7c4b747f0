import type { OrderAction } from '../../api/client';
import { formatDateAndTime } from '../../calendar';
import { formatPrice } from '../../format';
import { t } from '../../i18n';

/** Steps, refusals, cancellations and refunds of an order, with the names of the people who took them. */
export function ActionHistory({ actions }: { actions: OrderAction[] }) {
  if (actions.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="actions">
      <h2 id="actions">{t('actions.title')}</h2>
      <ol className="history">
        {actions.map((action, index) => (
          <li key={index}>{describeAction(action)}</li>
        ))}
      </ol>
    </section>
  );
}

/** Describes an action: `Refunded Rp 10.000 by Ayu Lestari, 24 Nov 2026, 14:30: one cake was missing` */
function describeAction({ action, by, at, amount, reason }: OrderAction) {
  const what =
    action === 'refund' ? t('actions.refund', { amount: formatPrice(amount ?? 0) }) : t(`actions.${action}`);
  const whatAndWho = by === null ? what : t('actions.by', { what, name: by.fullname });
  const text = `${whatAndWho}, ${formatDateAndTime(at)}`;
  return reason === null ? text : `${text}: ${reason}`;
}
