import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import { deleteProduct, productDetail, type ProductValues, saveProduct } from '../../api/products';
import { ConfirmButton } from '../../components/confirm-button';
import { Field, Form } from '../../components/form';
import { Loaded } from '../../components/page';
import { toast } from '../../state/toast';
import { ImagePicker } from './image-picker';
import { ManagePage } from './manage-page';

const MISSING = { icon: 'picture', title: 'There is no such product', text: 'Somebody may have deleted it.' };

/** A product that is edited, or a new one when the address has no id. */
export default function ManageProductPage() {
  const { id } = useParams();
  return (
    <ManagePage title={id === undefined ? 'New product' : 'Edit product'}>
      {id === undefined ? <ProductForm /> : <EditedProduct id={Number(id)} />}
    </ManagePage>
  );
}

function EditedProduct({ id }: { id: number }) {
  const { data, isPlaceholderData, error, refetch } = useQuery(productDetail(id));
  // What is edited must be what the product is now, not what a list said of it.
  const query = { data: isPlaceholderData ? undefined : data, error, refetch };
  return (
    <Loaded query={query} missing={MISSING}>
      {(product) => (
        <div key={id}>
          <ProductForm product={product} />
          <DeleteSection product={product} />
        </div>
      )}
    </Loaded>
  );
}

/** Changes the product, or creates one when there is none. */
function ProductForm({ product }: { product?: Product }) {
  const navigate = useNavigate();
  const isNew = product === undefined;
  const { name = '', price = '', description, images } = product ?? {};
  const defaultValues = {
    name,
    price: String(price),
    description: description ?? '',
    images: images?.map((src) => ({ src })) ?? [],
  };
  // From 0 to 1, while the form is sent.
  const [sentPart, setSentPart] = useState<number>();
  const save = async (values: ProductValues) => {
    const saved = await saveProduct(product?.id, values, setSentPart).finally(() => setSentPart(undefined));
    toast(`${saved.name} is saved.`);
    await navigate(isNew ? `/manage/products/${saved.id}` : '/manage/products');
  };
  return (
    <section className="panel">
      <Form submit={isNew ? 'Create product' : 'Save changes'} defaultValues={defaultValues} onSubmit={save}>
        <Field name="name" label="Name" maxLength={255} />
        <Field name="price" label="Price in rupiah" inputMode="decimal" />
        <Field name="description" label="Description" maxLength={10_000} multiline />
        <ImagePicker />
        {sentPart !== undefined && (
          <div className="progress">
            <progress max={1} value={sentPart} aria-label="Upload" />
            <span>
              {sentPart < 1 ? `${Math.round(sentPart * 100)} % sent` : 'Sent; the pictures are being stored'}
            </span>
          </div>
        )}
      </Form>
    </section>
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
