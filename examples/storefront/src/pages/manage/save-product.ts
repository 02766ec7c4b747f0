import { useRef, useState } from 'react';
import type { Product } from '../../api/client';
import { hasCode, isResponseLost, LocalizedError } from '../../api/errors';
import {
  changeProduct,
  createProduct,
  type EditedImage,
  type EditedProduct,
  findSaved,
  isSaved,
  productForEditing,
  type ProductValues,
} from '../../api/product-editing';
import { queryClient } from '../../api/query-client';
import type { OnProgress } from '../../api/upload-progress';
import type { FormControl } from '../../components/form';
import { formatPrice, parsePrice } from '../../format';
import { t } from '../../i18n';

/**
 * Returns a function that saves the form of a product, also after a lost response or a change by somebody else, and the progress
 * of the upload: a fraction from 0 to 1, or undefined while nothing is uploaded.
 */
export function useSaveProduct(edited: EditedProduct | undefined) {
  // Product that the form is based on. After a conflict, this is the product that somebody else has saved.
  const [base, setBase] = useState(edited);
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
      // After a lost response, equal values mean that this form was saved. Otherwise they prove nothing, because `isSaved`
      // only counts new images.
      if (mayBeSaved.current && isSaved(current.product, values)) return current.product;
      const changes = listChanges(loaded.product, current.product);
      // Nobody has changed a field of the form, but for example the availability, which the form keeps.
      if (changes.length === 0) return upload((onProgress) => changeProduct(current, values, onProgress));
      setBase(current);
      form.setValue('images', replaceStored(form.getValues('images'), current.product));
      mayBeSaved.current = false;
      throw new LocalizedError(() => t('conflict.fields', { fields: changes.join(', ') }));
    }
  };
  const save = async (typed: ProductValues, form: FormControl<ProductValues>) => {
    const price = parsePrice(typed.price);
    if (price === null) throw new LocalizedError(() => t('products.priceUnclear'), 'price');
    const values = { ...typed, price };
    return base === undefined ? create(values) : change(base, values, form);
  };
  return { save, uploadProgress };
}

/** Returns the values with which the form starts. They are empty for a new product. */
export function toFormValues(product?: Product): ProductValues {
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
