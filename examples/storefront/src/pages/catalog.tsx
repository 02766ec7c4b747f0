import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Product } from '../api/client';
import { productList } from '../api/products';
import { InfiniteList } from '../components/infinite-list';
import { Notice } from '../components/notice';
import { PageHeading } from '../components/page-heading';
import { ProductImage } from '../components/product-image';
import { SearchForm } from '../components/search';
import { formatPrice } from '../format';
import { t } from '../i18n';
import { useUrlParameter } from '../routing/url-parameters';

/** Number of products in the first row of the widest layout; see `.grid` in pages.css. */
const MAX_COLUMNS = 4;

export function CatalogPage() {
  const [text] = useUrlParameter('q');
  return (
    <div className="page">
      <header className="page-head hero">
        <p className="eyebrow">{t('catalog.eyebrow')}</p>
        <PageHeading>{t('catalog.title')}</PageHeading>
        <p>{t('catalog.lead')}</p>
        <SearchForm label={t('catalog.search')} />
      </header>
      <InfiniteList
        query={useInfiniteQuery(productList(text))}
        label={t('catalog.list')}
        formatCount={(count) => t('count.products', { count })}
        className="grid"
        renderItem={(product, index) => (
          <ProductCard key={product.id} product={product} isInFirstRow={index < MAX_COLUMNS} />
        )}
        empty={<Notice icon="shop" title={t('catalog.empty')} text={t('catalog.emptyText')} />}
        notFoundText={text ? t('catalog.notFound', { text }) : undefined}
      />
    </div>
  );
}

function ProductCard({ product, isInFirstRow }: { product: Product; isInFirstRow: boolean }) {
  return (
    <li>
      <Link className="card" to={`/products/${product.id}`}>
        <ProductImage
          product={product}
          src={product.images?.[0]}
          sizes="(min-width: 64rem) 17rem, (min-width: 48rem) 30vw, 46vw"
          loading={isInFirstRow ? 'eager' : 'lazy'}
        />
        <h2>{product.name}</h2>
        <p className="price">{formatPrice(product.price)}</p>
      </Link>
    </li>
  );
}
