import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import type { Product } from '../../api/client';
import { explain } from '../../api/errors';
import {
  deleteProduct,
  type EditedProduct,
  productForEditing,
  type ProductValues,
  reloadProducts,
} from '../../api/product-editing';
import { Form, type FormControl, FormField, FormTextArea } from '../../components/form';
import { Loaded } from '../../components/loaded';
import type { NoticeProps } from '../../components/notice';
import { QuestionButton } from '../../components/question-button';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { ImagePicker } from './image-picker';
import { LeaveQuestion } from './leave-question';
import { ManagePage } from './manage-page';
import { toFormValues, useSaveProduct } from './save-product';

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
  const { save, uploadProgress } = useSaveProduct(edited);
  const saveAndLeave = async (values: ProductValues, form: FormControl<ProductValues>) => {
    const saved = await save(values, form);
    await reloadProducts();
    showToast(t('products.saved', { name: saved.name }));
    await navigate(isNew ? `/manage/products/${saved.id}` : '/manage/products');
  };
  return (
    <section className="panel">
      <Form
        submitLabel={isNew ? t('products.create') : t('products.save')}
        defaultValues={toFormValues(edited?.product)}
        onSubmit={saveAndLeave}
      >
        <LeaveQuestion />
        <FormField name="name" label={t('name')} />
        <FormField
          name="price"
          label={t('products.price')}
          inputMode="decimal"
          hint={t('products.priceHint')}
        />
        <FormTextArea name="description" label={t('products.description')} />
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
