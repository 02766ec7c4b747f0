import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import { useDeleteProduct, useProduct } from '../../api/products';
import { Button } from '../../components/button';
import { ConfirmDialog } from '../../components/confirm-dialog';
import { Bars, Failure, Notice } from '../../components/page';
import { toast } from '../../state/toast';
import { ManagePage } from './manage-page';
import { ProductForm } from './product-form';

export function NewProductPage() {
  return (
    <ManagePage title="New product">
      <section className="panel">
        <ProductForm product={null} />
      </section>
    </ManagePage>
  );
}

export function EditProductPage() {
  const { data, isPlaceholderData, isError, error, refetch } = useProduct(Number(useParams().id));
  // What is edited must be what the product is now, not what a list said of it.
  const product = isPlaceholderData ? undefined : data;
  return (
    <ManagePage title="Edit product">
      {product && (
        <div key={product.id}>
          <section className="panel">
            <ProductForm product={product} />
          </section>
          <DeleteSection product={product} />
        </div>
      )}
      {product === null && (
        <Notice icon="picture" title="There is no such product" text="Somebody may have deleted it." />
      )}
      {product === undefined && (isError ? <Failure error={error} onRetry={refetch} /> : <Bars lines={8} />)}
    </ManagePage>
  );
}

function DeleteSection({ product: { id, name } }: { product: Product }) {
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  const { mutate: remove } = useDeleteProduct(id);
  const onClose = (hasAgreed: boolean) => {
    setIsAsking(false);
    if (!hasAgreed) return;
    remove(undefined, {
      onSuccess: () => {
        toast(`${name} is deleted.`);
        void navigate('/manage/products', { replace: true });
      },
      onError: (error) => toast(explain(error)),
    });
  };
  return (
    <section className="panel">
      <h2>Delete</h2>
      <p>Takes the product and its pictures out of the catalog for good.</p>
      <Button className="button danger" onClick={() => setIsAsking(true)}>
        Delete product
      </Button>
      {isAsking && (
        <ConfirmDialog
          question={`Delete ${name}?`}
          text="Its pictures go with it. Orders that hold it stay as they are."
          yes="Delete it"
          onClose={onClose}
        />
      )}
    </section>
  );
}
