import { useMutation } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import type { Order } from '../api/client';
import { explain } from '../api/errors';
import { productDetail } from '../api/products';
import { queryClient } from '../api/query-client';
import { t } from '../i18n';
import { addToCart } from '../state/cart';
import { showToast } from '../state/toast';
import { Button } from './button';

/**
 * Button that puts the products of an order into the cart again, with current prices. Leaves out products that the user cannot
 * see: for customers, those that are sold out.
 */
export function OrderAgainButton({ order }: { order: Order }) {
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const lines = await Promise.all(
        order.items.map(async ({ product_id, quantity }) => {
          const product = await queryClient.query(productDetail(product_id));
          return product && { product, quantity };
        }),
      );
      return lines.filter((line) => line !== null);
    },
    onSuccess: (lines) => {
      for (const { product, quantity } of lines) addToCart(product, quantity);
      if (lines.length < order.items.length) showToast(t('order.againPartly'));
      if (lines.length > 0) void navigate('/cart');
    },
    onError: (error) => showToast(explain(error)),
  });
  return (
    <Button className="button quiet" isBusy={isPending} onClick={() => mutate()}>
      {t('order.again')}
    </Button>
  );
}
