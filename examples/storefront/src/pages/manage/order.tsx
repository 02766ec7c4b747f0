import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { AdminOrder } from '../../api/client';
import { adminOrderDetail } from '../../api/orders';
import { BackLink } from '../../components/back-link';
import { Loaded } from '../../components/loaded';
import type { NoticeProps } from '../../components/notice';
import { OrderSummary } from '../../components/order-summary';
import { toMailLink } from '../../format';
import { t } from '../../i18n';
import { ActionHistory } from './action-history';
import { FulfilmentSection } from './fulfilment-section';
import { ManagePage } from './manage-page';
import { PaymentSection } from './payment-section';

/** Order of a customer: contact, fulfilment, items, payments, refunds and history. */
export default function ManageOrderPage() {
  const query = useQuery(adminOrderDetail(useParams().id ?? ''));
  const missing: NoticeProps = { icon: 'orders', title: t('order.missing'), text: t('manage.searchOrder') };
  return (
    <ManagePage title={t('order.title')}>
      <BackLink to="/manage/orders">{t('manage.back')}</BackLink>
      <Loaded query={query} missing={missing}>
        {({ order, notifications: events, transactions, actions }) => (
          <article key={order.order_id} className="order">
            <Customer order={order} />
            <FulfilmentSection order={order} />
            <OrderSummary order={order} />
            <PaymentSection order={order} events={events} transactions={transactions} />
            <ActionHistory actions={actions} />
          </article>
        )}
      </Loaded>
    </ManagePage>
  );
}

function Customer({ order: { customer } }: { order: AdminOrder }) {
  return (
    <section className="panel" aria-labelledby="customer">
      <h2 id="customer">{t('manage.customer')}</h2>
      <p>
        <strong>{customer.fullname}</strong>
        <br />
        <a href={toMailLink(customer.email)}>{customer.email}</a>
      </p>
    </section>
  );
}
