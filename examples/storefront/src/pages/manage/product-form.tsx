import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { Product } from '../../api/client';
import { type ProductValues, useSaveProduct } from '../../api/products';
import { Field, Form } from '../../components/form';
import { toast } from '../../state/toast';
import { ImagePicker } from './image-picker';

/** Changes the product, or creates one when there is none. */
export function ProductForm({ product }: { product?: Product }) {
  const navigate = useNavigate();
  const description = product?.description ?? '';
  const [sentPart, setSentPart] = useState(0);
  const { mutateAsync, isPending } = useSaveProduct(product?.id, setSentPart);
  const save = async (values: ProductValues) => {
    const { products: saved } = await mutateAsync(values);
    toast(`${saved.name} is saved.`);
    await navigate(product === undefined ? `/manage/products/${saved.id}` : '/manage/products');
  };
  return (
    <section className="panel">
      <Form submit={product === undefined ? 'Create product' : 'Save changes'} onSubmit={save}>
        <Field name="name" label="Name" defaultValue={product?.name} maxLength={255} />
        <Field name="price" label="Price in rupiah" defaultValue={product?.price} inputMode="decimal" />
        <Field
          name="description"
          label="Description"
          defaultValue={description}
          maxLength={10_000}
          multiline
        />
        <ImagePicker present={product?.images ?? []} />
        {isPending && (
          <div className="progress">
            <progress max={1} value={sentPart} aria-label="Upload" />
            <span>
              {sentPart === 1
                ? 'Sent; the pictures are being stored'
                : `${Math.round(sentPart * 100)} % sent`}
            </span>
          </div>
        )}
      </Form>
    </section>
  );
}
