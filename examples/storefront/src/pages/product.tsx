import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type { Product } from '../api/client';
import { productDetail } from '../api/products';
import { BackLink } from '../components/back-link';
import { Button, ButtonLink } from '../components/button';
import { Loaded } from '../components/loaded';
import type { NoticeProps } from '../components/notice';
import { PageHeading } from '../components/page-heading';
import { ProductImage } from '../components/product-image';
import { QuantityPicker } from '../components/quantity-picker';
import { formatPrice } from '../format';
import { t } from '../i18n';
import { addToCart, countPieces } from '../state/cart';
import { useSession } from '../state/session';
import { showToast } from '../state/toast';

export default function ProductPage() {
  const id = Number(useParams().id);
  const missing: NoticeProps = {
    icon: 'shop',
    title: t('products.notAvailable'),
    text: t('product.missingText'),
    children: <ButtonLink to="/">{t('toShop')}</ButtonLink>,
  };
  return (
    <div className="page">
      <BackLink to="/">{t('product.all')}</BackLink>
      <Loaded query={useQuery(productDetail(id))} title={t('table.product')} missing={missing}>
        {(product) => <ProductDetails key={id} product={product} />}
      </Loaded>
    </div>
  );
}

function ProductDetails({ product }: { product: Product }) {
  const role = useSession(({ user }) => user?.role);
  const [quantity, setQuantity] = useState(1);
  const add = () => {
    const cart = addToCart(product, quantity);
    const pieces = t('count.pieces', { count: countPieces(cart) });
    showToast(t('product.added', { name: product.name, pieces }));
  };
  return (
    <article className="product">
      <Gallery product={product} />
      <div className="product-text">
        <PageHeading>{product.name}</PageHeading>
        <p className="price large">{formatPrice(product.price)}</p>
        {product.description !== null && <p className="description">{product.description}</p>}
        <div className="buy">
          <QuantityPicker name={product.name} value={quantity} onChange={setQuantity} />
          <Button onClick={add}>{t('product.add')}</Button>
        </div>
        {role === 'ADMIN' && (
          <Link className="back" to={`/manage/products/${product.id}`}>
            {t('product.edit')}
          </Link>
        )}
      </div>
    </article>
  );
}

/** Large image, and buttons that select another one. */
function Gallery({ product }: { product: Product }) {
  const images = product.images ?? [];
  const [clicked, setClicked] = useState(0);
  const { name } = product;
  const count = images.length;
  // The clicked image may be gone after the product was loaded again.
  const chosen = clicked < count ? clicked : 0;
  const alt = count === 1 ? name : t('product.picture', { name, number: chosen + 1, count });
  return (
    <div className="gallery">
      <ProductImage
        product={product}
        src={images[chosen]}
        alt={alt}
        sizes="(min-width: 48rem) 38rem, 94vw"
        loading="eager"
      />
      {count > 1 && (
        <div className="thumbnails">
          {images.map((image, index) => (
            <button
              key={image}
              type="button"
              aria-label={t('product.showPicture', { number: index + 1, count })}
              aria-pressed={index === chosen}
              onClick={() => setClicked(index)}
            >
              <ProductImage product={product} src={image} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
