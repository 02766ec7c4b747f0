import { useMutation } from '@tanstack/react-query';
import type { AdminProduct } from '../../api/client';
import { explain } from '../../api/errors';
import { setAvailability } from '../../api/product-editing';
import { addDays, formatShortDate, useToday } from '../../calendar';
import { Badge } from '../../components/badge';
import { Button, ButtonLink } from '../../components/button';
import { focusHeading } from '../../components/page-heading';
import { ProductImage } from '../../components/product-image';
import { formatPrice } from '../../format';
import { t } from '../../i18n';
import { useUrlParameter } from '../../routing/url-parameters';
import { showToast } from '../../state/toast';

/** Row of the administrators' product list, with buttons that change the product's availability. */
export function ProductRow({ product }: { product: AdminProduct }) {
  const { id, name, price, images, available, unavailable_until } = product;
  const today = useToday();
  const [availability] = useUrlParameter('available');
  const { mutate, isPending } = useMutation({
    mutationFn: (change: { available: boolean; until?: string }) => setAvailability(id, change),
    // A filtered list no longer contains the product, so the pressed button disappears.
    onSuccess: () => availability !== '' && focusHeading(),
    onError: (error) => showToast(explain(error)),
  });
  const unavailableLabel =
    unavailable_until === null
      ? t('products.hidden')
      : t('products.soldOutUntil', { date: formatShortDate(unavailable_until) });
  const choices = available
    ? [
        { label: t('products.soldOut'), change: { available: false, until: addDays(today, 1) } },
        { label: t('products.hide'), change: { available: false } },
      ]
    : [{ label: t('products.makeAvailable'), change: { available: true } }];
  return (
    <li className="row">
      <ProductImage product={product} src={images?.[0]} />
      <span className="row-main">
        <strong>{name}</strong>
        <span className="price">{formatPrice(price)}</span>
      </span>
      <span role="status">{!available && <Badge label={unavailableLabel} tone="waiting" />}</span>
      <div className="actions">
        {choices.map(({ label, change }, position) => (
          // The position is the key, so that the first button keeps the focus when its label changes.
          <Button
            key={position}
            className="button quiet"
            aria-label={`${label}: ${name}`}
            isBusy={isPending}
            onClick={() => mutate(change)}
          >
            {label}
          </Button>
        ))}
        <ButtonLink
          className="button quiet"
          to={`/manage/products/${id}`}
          aria-label={t('products.editNamed', { name })}
        >
          {t('products.edit')}
        </ButtonLink>
      </div>
    </li>
  );
}
