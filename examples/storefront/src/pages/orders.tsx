import { useInfiniteQuery } from '@tanstack/react-query';
import { ownOrders } from '../api/orders';
import { ButtonLink } from '../components/button';
import { Notice } from '../components/notice';
import { OrderList } from '../components/order-list';
import { PageHeading } from '../components/page-heading';
import { t } from '../i18n';

export default function OrdersPage() {
  const empty = (
    <Notice icon="orders" title={t('orders.empty')} text={t('orders.emptyText')}>
      <ButtonLink to="/">{t('toShop')}</ButtonLink>
    </Notice>
  );
  return (
    <div className="page narrow">
      <PageHeading>{t('orders.title')}</PageHeading>
      <OrderList path="/orders" query={useInfiniteQuery(ownOrders)} empty={empty} />
    </div>
  );
}
