import { useInfiniteQuery } from '@tanstack/react-query';
import { allProducts, type ProductFilter } from '../../api/products';
import { ButtonLink } from '../../components/button';
import { EndlessList } from '../../components/endless-list';
import { Notice } from '../../components/page';
import { SearchForm } from '../../components/search';
import { Filter, useFilters } from './filter';
import { ManagePage } from './manage-page';
import { ProductRow } from './product-row';

const AVAILABILITY = {
  true: { label: 'Available' },
  false: { label: 'Not available' },
};

/** All products. Search and filter are in the address: `?q=lapis&available=false`. */
export default function ManageProductsPage() {
  const filters = useFilters(['q', 'available']);
  const search = (
    <>
      <SearchForm label="Name of the product" />
      <div className="filters">
        <Filter label="Availability" name="available" options={AVAILABILITY} />
      </div>
    </>
  );
  return (
    <ManagePage title="Products" action={<NewProductLink />} belowTitle={search}>
      <EndlessList
        query={useInfiniteQuery(allProducts(filters as ProductFilter))}
        label="Products"
        noun="product"
        className="rows"
        renderItem={(product) => <ProductRow key={product.id} product={product} />}
        empty={
          <Notice icon="picture" title="No products yet" text="Add the first one.">
            <NewProductLink />
          </Notice>
        }
        notFound={Object.keys(filters).length > 0 && 'No products match your search.'}
      />
    </ManagePage>
  );
}

function NewProductLink() {
  return <ButtonLink to="/manage/products/new">New product</ButtonLink>;
}
