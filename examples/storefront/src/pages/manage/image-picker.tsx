import { useRef, useState } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import type { EditedImage, ProductValues } from '../../api/product-editing';
import { shrinkImage } from '../../api/shrink-image';
import { Icon } from '../../components/icon';
import { toSentence } from '../../format';
import { t } from '../../i18n';
import { ImageTile } from './image-tile';

/** Limits of the service. */
const MAX_IMAGES = 5;
const MAX_BYTES = 5 * 1024 * 1024;

/** Form field `images`: marks existing images for removal, previews new ones before the upload and puts them in order. */
export function ImagePicker() {
  // Number of calls of `add` that are still preparing images. Until then, the form rejects a save, which would lack these images.
  const [pending, setPending] = useState(0);
  const { field, fieldState } = useController<ProductValues, 'images'>({
    name: 'images',
    rules: { validate: () => pending === 0 || t('pictures.preparing') },
  });
  const images = field.value;
  const { setError, setValue, clearErrors, getValues } = useFormContext<ProductValues>();
  const input = useRef<HTMLInputElement>(null);
  const remaining = countRemaining(images);
  // The service appends new images to the existing ones, so only new images can change places.
  const canMove = (from: number, to: number) =>
    images[from]?.file !== undefined && images[to]?.file !== undefined;

  const showError = (message: string) => setError('images', { message: toSentence(message) });
  const change = (changed: EditedImage[]) => {
    // `field.onChange` would also validate the images, and would then remove the errors of `showError`.
    setValue('images', changed, { shouldDirty: true });
    clearErrors('images');
  };
  const add = async (files: File[]) => {
    setPending((count) => count + 1);
    const prepared = await Promise.all(files.map(prepareImage));
    // The person has left the form. Object URLs that are created now would never be revoked.
    if (input.current === null) return;
    setPending((count) => count - 1);
    // Other images may have been added while these were prepared.
    const current = getValues('images');
    const valid = prepared.flatMap(({ shrunk }) => (shrunk && shrunk.size <= MAX_BYTES ? shrunk : []));
    const added = valid.slice(0, MAX_IMAGES - countRemaining(current));
    change([...current, ...added.map((file) => ({ file, src: URL.createObjectURL(file) }))]);
    const problems = prepared.flatMap(describeProblem);
    if (added.length < valid.length) problems.push(t('pictures.tooMany', { max: MAX_IMAGES }));
    if (problems.length > 0) showError(t('pictures.notAdded', { reasons: problems.join('; ') }));
  };
  // Removes a new image from the form. Marks or unmarks an existing image: saving the form removes the marked images.
  const toggle = ({ src, file, isRemoved = false }: EditedImage) => {
    if (file) {
      change(images.filter((image) => image.src !== src));
      input.current?.focus();
      return;
    }
    if (isRemoved && remaining >= MAX_IMAGES) {
      showError(t('pictures.tooMany', { max: MAX_IMAGES }));
      return;
    }
    change(images.map((image) => (image.src === src ? { src, isRemoved: !isRemoved } : image)));
  };

  return (
    <div className="field images">
      <span className="label">{t('pictures.title')}</span>
      <p className="hint" id="images-hint">
        {t('pictures.hint', { max: MAX_IMAGES })}
      </p>
      <ul className="image-tiles" aria-label={t('pictures.title')}>
        {images.map((image, index) => (
          <ImageTile
            key={image.src}
            image={image}
            index={index}
            isMovable={(offset) => canMove(index, index + offset)}
            onMove={(from, to) => canMove(from, to) && change(moveItem(images, from, to))}
            onToggle={() => toggle(image)}
          />
        ))}
      </ul>
      <input
        ref={input}
        type="file"
        id="images"
        className="visually-hidden"
        accept="image/*"
        multiple
        aria-describedby="images-hint"
        onChange={({ target }) => {
          void add([...(target.files ?? [])]);
          // Allows the same file to be chosen again after it was removed.
          target.value = '';
        }}
      />
      <label className="button quiet drop" htmlFor="images">
        <Icon name="picture" />
        {t('pictures.add')}
      </label>
      <p className="hint" role="status">
        {pending > 0 ? t('pictures.preparing') : t('pictures.remaining', { count: remaining })}
      </p>
      <p className="error" role="alert">
        {fieldState.error?.message}
      </p>
    </div>
  );
}

function moveItem<Item>(items: Item[], from: number, to: number): Item[] {
  const moved = items.slice(from, from + 1);
  return items.toSpliced(from, 1).toSpliced(to, 0, ...moved);
}

function countRemaining(images: EditedImage[]) {
  return images.filter(({ isRemoved }) => !isRemoved).length;
}

interface PreparedImage {
  /** Name of the chosen file. */
  name: string;
  /** Null if the browser cannot decode the file. */
  shrunk: File | null;
}

async function prepareImage(file: File): Promise<PreparedImage> {
  return { name: file.name, shrunk: await shrinkImage(file) };
}

/** Describes why an image cannot be added. Returns an empty list if it can be added. */
function describeProblem({ name, shrunk }: PreparedImage) {
  if (shrunk === null) return [t('pictures.notPicture', { name })];
  return shrunk.size > MAX_BYTES ? [t('pictures.tooLarge', { name })] : [];
}
