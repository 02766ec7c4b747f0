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
import { Form, type FormControl, FormField } from '../../components/form';
import { Loaded } from '../../components/loaded';
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
  const missing = { icon: 'picture', title: t('products.missing'), text: t('products.missingText') };
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
  const finish = async (saved: Product) => {
    await reloadProducts();
    showToast(t('products.saved', { name: saved.name }));
    await navigate(isNew ? `/manage/products/${saved.id}` : '/manage/products');
  };
  const create = async (values: ProductValues) =>
    (mayBeSaved.current ? await findSaved(values) : undefined) ?? createProduct(values, setUploadProgress);
  const save = async (values: ProductValues, form: FormControl<ProductValues>) => {
    const price = parsePrice(values.price);
    if (price === null) throw new LocalizedError(t('products.priceUnclear'), 'price');
    try {
      await send({ ...values, price }, form, base);
    } finally {
      setUploadProgress(undefined);
    }
  };
  const send = async (
    sent: ProductValues,
    form: FormControl<ProductValues>,
    target: EditedProduct | undefined,
  ): Promise<void> => {
    try {
      await finish(
        await (target === undefined ? create(sent) : changeProduct(target, sent, setUploadProgress)),
      );
    } catch (error) {
      if (isResponseLost(error)) mayBeSaved.current = true;
      if (target === undefined || !hasCode(error, 412)) throw error;
      const current = await queryClient.query({ ...productForEditing(target.product.id), staleTime: 0 });
      if (current === null) throw error;
      // `isSaved` cannot compare new images, only count them. Without a lost response, they may be somebody else's.
      if (mayBeSaved.current && isSaved(current.product, sent)) return finish(current.product);
      const changes = listChanges(target.product, current.product);
      // Nobody has changed a field of the form, but for example the availability, which the form keeps.
      if (changes.length === 0) {
        if (target !== base) throw error; // Once only: a proxy that rewrites ETags would cause endless conflicts.
        return send(sent, form, current);
      }
      setBase(current);
      form.setValue('images', replaceStored(form.getValues('images'), current.product));
      mayBeSaved.current = false;
      throw new LocalizedError(t('conflict.fields', { fields: changes.join(', ') }));
    }
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
