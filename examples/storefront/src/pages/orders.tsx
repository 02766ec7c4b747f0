import { useInfiniteQuery } from '@tanstack/react-query';
import { ownOrders } from '../api/orders';
import { ButtonLink } from '../components/button';
import { OrderList } from '../components/order-list';
import { Notice, PageHeading } from '../components/page';

export function OrdersPage() {
  const empty = (
    <Notice icon="orders" title="No orders yet" text="Your orders will appear here.">
      <ButtonLink to="/">See what we bake</ButtonLink>
    </Notice>
  );
  return (
    <div className="page narrow">
      <PageHeading>Your orders</PageHeading>
      <OrderList path="/orders" query={useInfiniteQuery(ownOrders)} empty={empty} />
    </div>
  );
}
