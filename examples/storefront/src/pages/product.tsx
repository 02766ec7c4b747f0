import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import type { Product } from '../api/client';
import { productDetail } from '../api/products';
import { Button, ButtonLink } from '../components/button';
import { Loaded, PageHeading } from '../components/page';
import { Picture } from '../components/picture';
import { QuantityPicker } from '../components/quantity-picker';
import { formatCount, formatPrice } from '../format';
import { addToCart, countPieces } from '../state/cart';
import { useSession } from '../state/session';
import { toast } from '../state/toast';

const MISSING = {
  icon: 'shop',
  title: 'Not available',
  text: 'This product is sold out or no longer baked.',
  children: <ButtonLink to="/">See what we bake</ButtonLink>,
};

export function ProductPage() {
  const id = Number(useParams().id);
  return (
    <div className="page">
      <Link className="back" to="/">
        ← All products
      </Link>
      <Loaded query={useQuery(productDetail(id))} title="Product" missing={MISSING}>
        {(product) => <ProductDetails key={id} product={product} />}
      </Loaded>
    </div>
  );
}

function ProductDetails({ product }: { product: Product }) {
  const role = useSession(({ person }) => person?.role);
  const [quantity, setQuantity] = useState(1);
  const add = () => {
    const cart = addToCart(product, quantity);
    toast(`${product.name} is in your cart: ${formatCount(countPieces(cart), 'piece')} in all.`);
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
          <Button onClick={add}>Add to cart</Button>
        </div>
        {role === 'ADMIN' && (
          <Link className="back" to={`/manage/products/${product.id}`}>
            Edit this product
          </Link>
        )}
      </div>
    </article>
  );
}

/** Large picture, and buttons that select another one. */
function Gallery({ product }: { product: Product }) {
  const images = product.images ?? [];
  const [chosen, setChosen] = useState(0);
  const alt =
    images.length === 1 ? product.name : `${product.name}, picture ${chosen + 1} of ${images.length}`;
  return (
    <div className="gallery">
      <div className="stage">
        <Picture product={product} src={images[chosen]} alt={alt} loading="eager" />
      </div>
      {images.length > 1 && (
        <div className="thumbnails">
          {images.map((image, index) => (
            <button
              key={image}
              type="button"
              aria-label={`Show picture ${index + 1} of ${images.length}`}
              aria-pressed={index === chosen}
              onClick={() => setChosen(index)}
            >
              <Picture product={product} src={image} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
