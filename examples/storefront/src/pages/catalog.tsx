import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Product } from '../api/client';
import { productList } from '../api/products';
import { EndlessList } from '../components/endless-list';
import { Notice, PageHeading } from '../components/page';
import { Picture } from '../components/picture';
import { SearchForm, useUrlParameter } from '../components/search';
import { formatPrice } from '../format';

export function CatalogPage() {
  const [text] = useUrlParameter('q');
  return (
    <div className="page">
      <header className="page-head hero">
        <p className="eyebrow">Out of the oven</p>
        <PageHeading>Baked before sunrise</PageHeading>
        <p>Every bread and cake of our kitchen. Order today, pay online, collect it warm.</p>
        <SearchForm label="Find bread or cake" />
      </header>
      <EndlessList
        query={useInfiniteQuery(productList(text))}
        label="Products"
        noun="product"
        className="grid"
        renderItem={(product) => <ProductCard key={product.id} product={product} />}
        empty={
          <Notice icon="shop" title="The shelf is empty" text="Nothing is baked yet. Come back later." />
        }
        notFound={text && `Nothing that we bake has “${text}” in its name.`}
        end={(items) => (text ? `${items} with “${text}” in the name.` : `That is all we bake: ${items}.`)}
      />
    </div>
  );
}

function ProductCard({ product }: { product: Product }) {
  return (
    <li>
      <Link className="card" to={`/products/${product.id}`}>
        <Picture product={product} src={product.images?.[0]} />
        <h2>{product.name}</h2>
        <p className="price">{formatPrice(product.price)}</p>
      </Link>
    </li>
  );
}
