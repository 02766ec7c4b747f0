import { useState } from 'react';
import { useNavigate } from 'react-router';
import type { Product } from '../../api/client';
import { useSaveProduct } from '../../api/products';
import { withUploadProgress } from '../../api/upload-progress';
import { Field, Form } from '../../components/form';
import { toast } from '../../state/toast';
import { type ImageChoice, ImagePicker } from './image-picker';

const NO_CHANGE: ImageChoice = { added: [], removed: [] };

/** @param product null for a new one */
export function ProductForm({ product }: { product: Product | null }) {
  const navigate = useNavigate();
  const [sentPart, setSentPart] = useState<number | null>(null);
  const { mutateAsync } = useSaveProduct(product?.id ?? null, withUploadProgress(setSentPart));
  const defaultValues = {
    name: product?.name ?? '',
    price: product === null ? '' : String(product.price),
    description: product?.description ?? '',
    images: NO_CHANGE,
  };
  const save = async ({ images, ...texts }: typeof defaultValues) => {
    try {
      const added = images.added.map(({ file }) => file);
      const { products: saved } = await mutateAsync({ ...texts, added, removed: images.removed });
      toast(`${saved.name} is saved.`);
      await navigate('/manage/products');
    } catch (error) {
      setSentPart(null);
      throw error;
    }
  };
  const submit = product === null ? 'Create product' : 'Save changes';
  return (
    <Form defaultValues={defaultValues} submit={submit} onSubmit={save}>
      <Field name="name" label="Name" maxLength={255} />
      <Field name="price" label="Price in rupiah" inputMode="decimal" />
      <Field name="description" label="Description" maxLength={10_000} multiline />
      <ImagePicker name="images" present={product?.images ?? []} />
      <UploadProgress part={sentPart} />
    </Form>
  );
}

/** @param part what is sent, from 0 to 1; null while nothing is being sent */
function UploadProgress({ part }: { part: number | null }) {
  const isSent = part === 1;
  return (
    <div className="progress" hidden={part === null}>
      <progress max={1} value={part ?? 0} aria-label="Upload" />
      <span>
        {isSent ? 'Sent; the pictures are being stored' : `${Math.round((part ?? 0) * 100)} % sent`}
      </span>
    </div>
  );
}
