import { useQueries } from '@tanstack/react-query';
import { Link } from 'react-router';
import { productDetail } from '../api/products';
import { Badge } from '../components/badge';
import { Button, ButtonLink } from '../components/button';
import { CartSummary } from '../components/cart-summary';
import { Notice } from '../components/notice';
import { focusHeading, PageHeading } from '../components/page-heading';
import { ProductImage } from '../components/product-image';
import { QuantityPicker } from '../components/quantity-picker';
import { formatPrice } from '../format';
import { t } from '../i18n';
import { computeLineTotal, removeFromCart, setQuantity, useCart } from '../state/cart';
import { showToast } from '../state/toast';

export default function CartPage() {
  const lines = useCurrentLines();
  return (
    <div className="page">
      <PageHeading>{t('cart.title')}</PageHeading>
      {lines.length === 0 ? (
        <Notice icon="cart" title={t('cart.empty')} text={t('cart.emptyText')}>
          <ButtonLink to="/">{t('toShop')}</ButtonLink>
        </Notice>
      ) : (
        <div className="cart">
          <ul className="lines" aria-label={t('cart.products')}>
            {lines.map((line) => (
              <Line key={line.id} line={line} />
            ))}
          </ul>
          <CartSummary lines={lines} />
        </div>
      )}
    </div>
  );
}

type CurrentLine = ReturnType<typeof useCurrentLines>[number];

/**
 * Returns the lines of the cart with current names, prices and images. `oldPrice` is the price when the product was last added.
 * A product that is deleted or unavailable counts as sold out.
 */
function useCurrentLines() {
  const lines = useCart();
  const queries = useQueries({ queries: lines.map(({ id }) => productDetail(id)) });
  return lines.map((line, index) => {
    const product = queries[index]?.data;
    const { name, price, images } = product ?? line;
    return { ...line, name, price, images, isSoldOut: product === null, oldPrice: line.price };
  });
}

function Line({ line }: { line: CurrentLine }) {
  const { id, name, price, oldPrice, isSoldOut } = line;
  const remove = () => {
    removeFromCart(id);
    showToast(t('cart.removed', { name }));
    focusHeading();
  };
  return (
    <li className="line">
      <ProductImage product={line} src={line.images?.[0]} />
      <div className="line-text">
        <Link to={`/products/${id}`}>{name}</Link>
        {isSoldOut ? (
          <p>
            <Badge label={t('cart.soldOut')} tone="error" />
          </p>
        ) : (
          <p className="hint">
            {t('cart.each', { price: formatPrice(price) })}
            {price !== oldPrice && t('cart.was', { price: formatPrice(oldPrice) })}
          </p>
        )}
      </div>
      {!isSoldOut && (
        <>
          <QuantityPicker name={name} value={line.quantity} onChange={(value) => setQuantity(id, value)} />
          <p className="price">{formatPrice(computeLineTotal(line))}</p>
        </>
      )}
      <Button className="link" aria-label={t('removeNamed', { name })} onClick={remove}>
        {t('remove')}
      </Button>
    </li>
  );
}
