import { useInfiniteQuery } from '@tanstack/react-query';
import { allProducts, type ProductFilter } from '../../api/product-editing';
import { ButtonLink } from '../../components/button';
import { InfiniteList } from '../../components/infinite-list';
import { Notice } from '../../components/notice';
import { SearchForm } from '../../components/search';
import { t } from '../../i18n';
import { useUrlParameters } from '../../routing/url-parameters';
import { Filter } from './filter';
import { ManagePage } from './manage-page';
import { ProductRow } from './product-row';

/** All products. Search and filter are in the URL: `?q=lapis&available=false`. */
export default function ManageProductsPage() {
  const filters = useUrlParameters(['q', 'available']);
  const availability = { true: t('products.available'), false: t('products.notAvailable') };
  const search = (
    <>
      <SearchForm label={t('products.search')} />
      <div className="actions">
        <Filter label={t('products.availability')} name="available" options={availability} />
      </div>
    </>
  );
  return (
    <ManagePage title={t('manage.products')} besideTitle={<NewProductLink />} belowTitle={search}>
      <InfiniteList
        query={useInfiniteQuery(allProducts(filters as ProductFilter))}
        label={t('manage.products')}
        formatCount={(count) => t('count.products', { count })}
        className="rows"
        renderItem={(product) => <ProductRow key={product.id} product={product} />}
        empty={
          <Notice icon="picture" title={t('products.empty')} text={t('products.emptyText')}>
            <NewProductLink />
          </Notice>
        }
        notFoundText={Object.keys(filters).length > 0 ? t('products.noMatch') : undefined}
      />
    </ManagePage>
  );
}

function NewProductLink() {
  return <ButtonLink to="/manage/products/new">{t('products.new')}</ButtonLink>;
}
