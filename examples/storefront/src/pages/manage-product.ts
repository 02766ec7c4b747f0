import { asForm, dataOf } from 'bakery-client';
import { withUploadProgress } from 'bakery-client/upload-progress';
import { api, hasCode, type Product } from '../api.js';
import { h } from '../dom.js';
import { go, type Visit } from '../router.js';
import { field, form } from '../ui/form.js';
import { imagePicker } from '../ui/image-picker.js';
import { bars, load } from '../ui/loading.js';
import { notice, toast } from '../ui/messages.js';
import { manageHead } from './manage-head.js';
import { deleteProduct } from './manage-products.js';

export function newProductPage({ signal }: Visit): HTMLElement {
  return h('div', { class: 'page narrow' }, manageHead('New product'), editor(null, signal));
}

export function editProductPage({ params, signal }: Visit): HTMLElement {
  const place = h('div', {});
  load(place, {
    skeleton: bars(8),
    ask: async () => {
      const path = { product_id: Number(params.id) };
      return (await dataOf(api.GET('/api/products/{product_id}', { params: { path }, signal }))).products;
    },
    draw: (product) => editor(product, signal),
    drawFailure: (error) =>
      hasCode(error, 404)
        ? notice({
            icon: 'picture',
            title: 'There is no such product',
            text: 'Somebody may have deleted it.',
          })
        : undefined,
    signal,
  });
  return h('div', { class: 'page narrow' }, manageHead('Edit product'), place);
}

function editor(product: Product | null, signal: AbortSignal): HTMLElement {
  const name = field({ name: 'name', label: 'Name', value: product?.name ?? '', maxlength: 255 });
  const price = field({
    name: 'price',
    label: 'Price in rupiah',
    value: product === null ? '' : String(product.price),
    inputmode: 'decimal',
  });
  const description = field({
    name: 'description',
    label: 'Description',
    type: 'textarea',
    value: product?.description ?? '',
    maxlength: 10_000,
  });
  const images = imagePicker(product?.images ?? [], signal);
  const progress = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
  const progressLine = h('div', { class: 'progress', hidden: true }, progress, h('span', {}));

  const showProgress = (part: number): void => {
    progressLine.hidden = false;
    progress.value = part;
    const text = part < 1 ? `${Math.round(part * 100)} % sent` : 'Sent; the pictures are being stored';
    progressLine.querySelector('span')?.replaceChildren(text);
  };
  const send = async (): Promise<void> => {
    const values = {
      name: name.input.value,
      price: price.input.value,
      description: description.input.value,
      images: images.added(),
    };
    images.complain();
    const sending = {
      bodySerializer: asForm,
      signal,
      fetch: api.sendingBy(withUploadProgress(showProgress)),
    };
    try {
      if (product === null) {
        await dataOf(api.POST('/api/products', { body: values, ...sending }));
      } else {
        const params = { path: { product_id: product.id } };
        const body = { ...values, 'images.removed[]': [...images.removed()] };
        await dataOf(api.PUT('/api/products/{product_id}', { params, body, ...sending }));
      }
    } finally {
      progressLine.hidden = true;
    }
    toast(`${values.name.trim()} is saved.`);
    go('/manage/products');
  };

  return h(
    'div',
    {},
    h(
      'section',
      { class: 'panel' },
      form({
        fields: [name, price, description],
        submit: product === null ? 'Create product' : 'Save changes',
        extra: [images.node, progressLine],
        send,
        complain: ({ images: complaint }) => {
          images.complain(complaint);
          return complaint !== undefined;
        },
      }),
    ),
    product !== null &&
      h(
        'section',
        { class: 'panel' },
        h('h2', {}, 'Delete'),
        h('p', {}, 'Takes the product and its pictures out of the catalog for good.'),
        h(
          'button',
          {
            class: 'button danger',
            type: 'button',
            on: {
              click: () => {
                void deleteProduct(product).then((isDeleted) => {
                  if (isDeleted) go('/manage/products', 'replace');
                });
              },
            },
          },
          'Delete product',
        ),
      ),
  );
}
