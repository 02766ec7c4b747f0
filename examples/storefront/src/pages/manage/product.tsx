import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import { useDeleteProduct, useProduct } from '../../api/products';
import { ConfirmButton } from '../../components/confirm-button';
import { NoContent } from '../../components/page';
import { toast } from '../../state/toast';
import { ManagePage } from './manage-page';
import { ProductForm } from './product-form';

export default function EditProductPage() {
  const query = useProduct(Number(useParams().id));
  // What is edited must be what the product is now, not what a list said of it.
  const product = query.isPlaceholderData ? undefined : query.data;
  return (
    <ManagePage title="Edit product">
      {product ? (
        <div key={product.id}>
          <section className="panel">
            <ProductForm product={product} />
          </section>
          <DeleteSection product={product} />
        </div>
      ) : (
        <NoContent query={query} title="There is no such product" text="Somebody may have deleted it." />
      )}
    </ManagePage>
  );
}

function DeleteSection({ product: { id, name } }: { product: Product }) {
  const navigate = useNavigate();
  const { mutate: remove } = useDeleteProduct(id);
  const onConfirm = () =>
    remove(undefined, {
      onSuccess: () => {
        toast(`${name} is deleted.`);
        void navigate('/manage/products', { replace: true });
      },
      onError: (error) => toast(explain(error)),
    });
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
        onConfirm={onConfirm}
      />
    </section>
  );
}
