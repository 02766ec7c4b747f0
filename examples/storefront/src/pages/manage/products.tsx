import { useInfiniteQuery } from '@tanstack/react-query';
import type { Product } from '../../api/client';
import { productList } from '../../api/products';
import { ButtonLink } from '../../components/button';
import { EndlessList } from '../../components/endless-list';
import { Notice } from '../../components/page';
import { Picture } from '../../components/picture';
import { SearchForm, useParameter } from '../../components/search';
import { count, formatPrice } from '../../format';
import { ManagePage } from './manage-page';

export default function ManageProductsPage() {
  const [text] = useParameter('q');
  return (
    <ManagePage
      title="Products"
      action={<NewProductLink />}
      search={<SearchForm label="Name of the product" />}
    >
      <EndlessList
        query={useInfiniteQuery(productList(text))}
        label="Products"
        noun="product"
        className="rows"
        renderItem={(product) => <ProductRow key={product.id} product={product} />}
        empty={
          <Notice icon="picture" title="No products yet" text="Put the first one on the shelf.">
            <NewProductLink />
          </Notice>
        }
        notFound={text && `No product has “${text}” in its name.`}
      />
    </ManagePage>
  );
}

function NewProductLink() {
  return <ButtonLink to="/manage/products/new">New product</ButtonLink>;
}

function ProductRow({ product }: { product: Product }) {
  const { id, name, price } = product;
  const images = product.images ?? [];
  return (
    <li className="row">
      <Picture product={product} src={images[0]} />
      <span className="row-main">
        <strong>{name}</strong>
        <small>{count(images.length, 'picture')}</small>
      </span>
      <span className="price">{formatPrice(price)}</span>
      <ButtonLink className="button quiet small" to={`/manage/products/${id}`} aria-label={`Edit ${name}`}>
        Edit
      </ButtonLink>
    </li>
  );
}
