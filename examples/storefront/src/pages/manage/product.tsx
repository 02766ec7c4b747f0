import { useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import { deleteProduct, productDetail, type ProductValues, saveProduct } from '../../api/products';
import { useFreshQuery } from '../../api/query-client';
import { ConfirmButton } from '../../components/confirm-button';
import { Field, Form } from '../../components/form';
import { Loaded } from '../../components/page';
import { parsePrice } from '../../format';
import { toast } from '../../state/toast';
import { ImagePicker } from './image-picker';
import { ManagePage } from './manage-page';

const MISSING = { icon: 'picture', title: 'There is no such product', text: 'It may have been deleted.' };

/** Page that edits the product with the id in the URL, or creates a product if the URL has no id. */
export default function ManageProductPage() {
  const { id } = useParams();
  return (
    <ManagePage title={id === undefined ? 'New product' : 'Edit product'}>
      {id === undefined ? <ProductForm /> : <EditedProduct key={id} id={Number(id)} />}
    </ManagePage>
  );
}

function EditedProduct({ id }: { id: number }) {
  return (
    <Loaded query={useFreshQuery(productDetail(id))} missing={MISSING}>
      {(product) => (
        <div>
          <ProductForm product={product} />
          <DeleteSection product={product} />
        </div>
      )}
    </Loaded>
  );
}

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
  // Fraction from 0 to 1 while the form is being uploaded, otherwise undefined.
  const [uploadProgress, setUploadProgress] = useState<number>();
  const save = async (values: ProductValues) => {
    const sent = { ...values, price: parsePrice(values.price) };
    const saved = await saveProduct(product?.id, sent, setUploadProgress).finally(() =>
      setUploadProgress(undefined),
    );
    toast(`${saved.name} is saved.`);
    await navigate(isNew ? `/manage/products/${saved.id}` : '/manage/products');
  };
  return (
    <section className="panel">
      <Form submit={isNew ? 'Create product' : 'Save changes'} defaultValues={defaultValues} onSubmit={save}>
        <Field name="name" label="Name" maxLength={255} />
        <Field name="price" label="Price in rupiah" inputMode="decimal" hint="For example 25.000" />
        <Field name="description" label="Description" maxLength={10_000} isMultiline />
        <ImagePicker />
        {uploadProgress !== undefined && (
          <div className="progress">
            <progress max={1} value={uploadProgress} aria-label="Upload" />
            <span>
              {uploadProgress < 1
                ? `${Math.round(uploadProgress * 100)} % sent`
                : 'Sent. The pictures are being stored.'}
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
      <p>Removes the product and its pictures from the catalog permanently.</p>
      <ConfirmButton
        className="button danger"
        label="Delete product"
        question={`Delete ${name}?`}
        text="Its pictures are deleted too. Existing orders do not change."
        yes="Delete it"
        onConfirm={() => void remove()}
      />
    </section>
  );
}
