import { useNavigate } from 'react-router';
import type { Product } from '../../api/client';
import { useSaveProduct } from '../../api/products';
import { Field, Form } from '../../components/form';
import { toast } from '../../state/toast';
import { type ImageChoice, ImagePicker } from './image-picker';

const NO_CHANGE: ImageChoice = { added: [], removed: [] };

/** Changes the product, or creates one when there is none. */
export function ProductForm({ product }: { product?: Product }) {
  const navigate = useNavigate();
  const { mutateAsync, isPending } = useSaveProduct(product?.id);
  const defaultValues = {
    name: product?.name ?? '',
    price: String(product?.price ?? ''),
    description: product?.description ?? '',
    images: NO_CHANGE,
  };
  const save = async ({ images, ...texts }: typeof defaultValues) => {
    const added = images.added.map(({ file }) => file);
    const { products: saved } = await mutateAsync({ ...texts, added, removed: images.removed });
    toast(`${saved.name} is saved.`);
    await navigate('/manage/products');
  };
  const submit = product === undefined ? 'Create product' : 'Save changes';
  return (
    <Form defaultValues={defaultValues} submit={submit} onSubmit={save}>
      <Field name="name" label="Name" maxLength={255} />
      <Field name="price" label="Price in rupiah" inputMode="decimal" />
      <Field name="description" label="Description" maxLength={10_000} multiline />
      <ImagePicker name="images" present={product?.images ?? []} />
      {isPending && <progress aria-label="Upload" />}
    </Form>
  );
}
