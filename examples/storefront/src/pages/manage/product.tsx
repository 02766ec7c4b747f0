import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain, hasCode, isResponseLost, LocalizedError } from '../../api/errors';
import {
  changeProduct,
  createProduct,
  deleteProduct,
  type EditedImage,
  type EditedProduct,
  findSaved,
  isSaved,
  productForEditing,
  type ProductValues,
  reloadProducts,
} from '../../api/product-editing';
import { queryClient } from '../../api/query-client';
import type { OnProgress } from '../../api/upload-progress';
import { Form, type FormControl, FormField } from '../../components/form';
import { Loaded } from '../../components/loaded';
import type { NoticeProps } from '../../components/notice';
import { QuestionButton } from '../../components/question-button';
import { formatPrice, parsePrice } from '../../format';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { ImagePicker } from './image-picker';
import { LeaveQuestion } from './leave-question';
import { ManagePage } from './manage-page';

/** Page that edits the product with the id in the URL, or creates a product if the URL has no id. */
export default function ManageProductPage() {
  const { id } = useParams();
  return (
    <ManagePage title={id === undefined ? t('products.new') : t('products.editTitle')}>
      {id === undefined ? <ProductForm /> : <ProductEditor key={id} id={Number(id)} />}
    </ManagePage>
  );
}

/** Form for an existing product, and the button that deletes the product. */
function ProductEditor({ id }: { id: number }) {
  const missing: NoticeProps = {
    icon: 'picture',
    title: t('products.missing'),
    text: t('products.missingText'),
  };
  return (
    <Loaded query={useQuery(productForEditing(id))} missing={missing}>
      {(edited) => (
        <div>
          <ProductForm edited={edited} />
          <DeleteSection product={edited.product} />
        </div>
      )}
    </Loaded>
  );
}

/** Form that changes a product, or creates a product if `edited` is undefined. */
function ProductForm({ edited }: { edited?: EditedProduct }) {
  const navigate = useNavigate();
  const isNew = edited === undefined;
  // Product that the form is based on. After a conflict, this is the product that somebody else has saved.
  const [base, setBase] = useState(edited);
  // Fraction from 0 to 1 while the form is being uploaded, otherwise undefined.
  const [uploadProgress, setUploadProgress] = useState<number>();
  // True if an earlier attempt may have saved the product although its response was lost.
  const mayBeSaved = useRef(false);
  const upload = async (send: (onProgress: OnProgress) => Promise<Product>) => {
    try {
      return await send(setUploadProgress);
    } catch (error) {
      if (isResponseLost(error)) mayBeSaved.current = true;
      throw error;
    } finally {
      setUploadProgress(undefined);
    }
  };
  const create = async (values: ProductValues) => {
    const saved = mayBeSaved.current ? await findSaved(values) : undefined;
    return saved ?? upload((onProgress) => createProduct(values, onProgress));
  };
  const change = async (loaded: EditedProduct, values: ProductValues, form: FormControl<ProductValues>) => {
    try {
      return await upload((onProgress) => changeProduct(loaded, values, onProgress));
    } catch (error) {
      if (!hasCode(error, 412)) throw error;
      const current = await queryClient.query({ ...productForEditing(loaded.product.id), staleTime: 0 });
      if (current === null) throw error;
      // `isSaved` cannot compare new images, only count them. Without a lost response, they may be somebody else's.
      if (mayBeSaved.current && isSaved(current.product, values)) return current.product;
      const changes = listChanges(loaded.product, current.product);
      // Nobody has changed a field of the form, but for example the availability, which the form keeps.
      if (changes.length === 0) return upload((onProgress) => changeProduct(current, values, onProgress));
      setBase(current);
      form.setValue('images', replaceStored(form.getValues('images'), current.product));
      mayBeSaved.current = false;
      throw new LocalizedError(t('conflict.fields', { fields: changes.join(', ') }));
    }
  };
  const save = async (typed: ProductValues, form: FormControl<ProductValues>) => {
    const price = parsePrice(typed.price);
    if (price === null) throw new LocalizedError(t('products.priceUnclear'), 'price');
    const values = { ...typed, price };
    const saved = await (base === undefined ? create(values) : change(base, values, form));
    await reloadProducts();
    showToast(t('products.saved', { name: saved.name }));
    await navigate(isNew ? `/manage/products/${saved.id}` : '/manage/products');
  };
  return (
    <section className="panel">
      <Form
        submitLabel={isNew ? t('products.create') : t('products.save')}
        defaultValues={toFormValues(edited?.product)}
        onSubmit={save}
      >
        <LeaveQuestion />
        <FormField name="name" label={t('name')} maxLength={255} />
        <FormField
          name="price"
          label={t('products.price')}
          inputMode="decimal"
          hint={t('products.priceHint')}
        />
        <FormField name="description" label={t('products.description')} maxLength={10_000} isMultiline />
        <ImagePicker />
        {uploadProgress !== undefined && (
          <div className="inline progress">
            <progress max={1} value={uploadProgress} aria-label={t('products.upload')} />
            <span>
              {uploadProgress < 1
                ? t('products.sent', { percent: Math.round(uploadProgress * 100) })
                : t('products.storing')}
            </span>
          </div>
        )}
      </Form>
    </section>
  );
}

/** Returns the values with which the form starts. They are empty for a new product. */
function toFormValues(product?: Product): ProductValues {
  return {
    name: product?.name ?? '',
    // With a comma, as `parsePrice` reads decimals.
    price: String(product?.price ?? '').replace('.', ','),
    // The service stores line breaks of two characters, but a text area has line breaks of one.
    description: product?.description?.replaceAll('\r\n', '\n') ?? '',
    images: product?.images?.map((src) => ({ src })) ?? [],
  };
}

/** Returns the stored images of a product, marked for removal as before, and then the new images of the form. */
function replaceStored(images: EditedImage[], { images: stored }: Product): EditedImage[] {
  const kept = (stored ?? []).map((src) => images.find((image) => image.src === src) ?? { src });
  return [...kept, ...images.filter(({ file }) => file)];
}

/** Lists the changed fields by label. Adds the new name or price. */
function listChanges(before: Product, after: Product) {
  return [
    ...(before.name === after.name ? [] : [`${t('name')}: ${after.name}`]),
    ...(before.price === after.price ? [] : [`${t('products.price')}: ${formatPrice(after.price)}`]),
    ...(toFormValues(before).description === toFormValues(after).description
      ? []
      : [t('products.description')]),
    ...(before.images?.join() === after.images?.join() ? [] : [t('pictures.title')]),
  ];
}

function DeleteSection({ product: { id, name } }: { product: Product }) {
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: () => deleteProduct(id),
    onSuccess: () => {
      showToast(t('products.deleted', { name }));
      return navigate('/manage/products', { replace: true });
    },
    onError: (error) => showToast(explain(error)),
  });
  return (
    <section className="panel">
      <h2>{t('products.deleteTitle')}</h2>
      <p>{t('products.deleteHint')}</p>
      <QuestionButton
        className="button danger"
        label={t('products.delete')}
        question={t('products.deleteQuestion', { name })}
        text={t('products.deleteText')}
        answers={{ confirm: t('products.deleteYes') }}
        isBusy={isPending}
        onAnswer={() => mutate()}
      />
    </section>
  );
}
