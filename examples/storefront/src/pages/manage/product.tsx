import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import { deleteProduct, productDetail } from '../../api/products';
import { ConfirmButton } from '../../components/confirm-button';
import { Loaded, Notice } from '../../components/page';
import { toast } from '../../state/toast';
import { ManagePage } from './manage-page';
import { ProductForm } from './product-form';

export default function EditProductPage() {
  const { data, isPlaceholderData, error, refetch } = useQuery(productDetail(Number(useParams().id)));
  // What is edited must be what the product is now, not what a list said of it.
  const query = { data: isPlaceholderData ? undefined : data, error, refetch };
  return (
    <ManagePage title="Edit product">
      <Loaded
        query={query}
        missing={
          <Notice icon="picture" title="There is no such product" text="Somebody may have deleted it." />
        }
      >
        {(product) => (
          <div key={product.id}>
            <ProductForm product={product} />
            <DeleteSection product={product} />
          </div>
        )}
      </Loaded>
    </ManagePage>
  );
}

function DeleteSection({ product: { id, name } }: { product: Product }) {
  const navigate = useNavigate();
  const remove = async () => {
    try {
      await deleteProduct(id);
      toast(`${name} is deleted.`);
      await navigate('/manage/products', { replace: true });
    } catch (error) {
      toast(explain(error));
    }
  };
  return (
    <section className="panel">
      <h2>Delete</h2>
      <p>Takes the product and its pictures out of the catalog for good.</p>
      <ConfirmButton
        className="button danger"
        label="Delete product"
        question={`Delete ${name}?`}
        text="Its pictures go with it. Orders that hold it stay as they are."
        yes="Delete it"
        onConfirm={() => void remove()}
      />
    </section>
  );
}
