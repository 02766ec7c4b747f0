import { useEffect, useRef, useState } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import type { EditedPicture } from '../../api/product-editing';
import { shrinkPicture } from '../../api/shrink-picture';
import { Icon } from '../../components/icon';
import { toSentence } from '../../format';
import { t } from '../../i18n';
import { PictureTile } from './picture-tile';

const MAX_PICTURES = 5;
const MAX_BYTES = 5 * 1024 * 1024;

/** Form field `images`: marks existing pictures for removal, previews new ones before the upload and puts them in order. */
export function PicturePicker() {
  const { field, fieldState } = useController({ name: 'images' });
  const pictures = field.value as EditedPicture[];
  const { setError, clearErrors, getValues } = useFormContext<{ images: EditedPicture[] }>();
  const input = useRef<HTMLInputElement>(null);
  const [isPreparing, setPreparing] = useState(false);
  const createObjectUrl = useObjectUrls();
  const remaining = countRemaining(pictures);
  // The service appends new pictures to the existing ones, so only new pictures can change places.
  const canMove = (from: number, to: number) =>
    pictures[from]?.file !== undefined && pictures[to]?.file !== undefined;

  const showError = (message: string) => setError('images', { message: toSentence(message) });
  const change = (changed: EditedPicture[]) => {
    field.onChange(changed);
    clearErrors('images');
  };
  const add = async (files: File[]) => {
    setPreparing(true);
    const prepared = await Promise.all(files.map(preparePicture));
    // The person has left the form. Object URLs that are created now would never be revoked.
    if (input.current === null) return;
    setPreparing(false);
    // Other pictures may have been added while these were prepared.
    const current = getValues('images');
    const valid = prepared.flatMap(({ shrunk }) => (shrunk && shrunk.size <= MAX_BYTES ? shrunk : []));
    const added = valid.slice(0, MAX_PICTURES - countRemaining(current));
    change([...current, ...added.map((file) => ({ file, src: createObjectUrl(file) }))]);
    const problems = prepared.flatMap(describeProblem);
    if (added.length < valid.length) problems.push(t('pictures.tooMany', { max: MAX_PICTURES }));
    if (problems.length > 0) showError(t('pictures.notAdded', { reasons: problems.join('; ') }));
  };
  // Takes out a new picture at once. Marks or unmarks an existing picture: saving the form removes the marked pictures.
  const toggle = ({ src, file, isRemoved = false }: EditedPicture) => {
    if (file) {
      change(pictures.filter((picture) => picture.src !== src));
      input.current?.focus();
      return;
    }
    if (isRemoved && remaining >= MAX_PICTURES) {
      showError(t('pictures.tooMany', { max: MAX_PICTURES }));
      return;
    }
    change(pictures.map((picture) => (picture.src === src ? { src, isRemoved: !isRemoved } : picture)));
  };

  return (
    <div className="field images">
      <span className="label">{t('pictures.title')}</span>
      <p className="hint" id="images-hint">
        {t('pictures.hint', { max: MAX_PICTURES })}
      </p>
      <ul className="picture-tiles" aria-label={t('pictures.title')}>
        {pictures.map((picture, index) => (
          <PictureTile
            key={picture.src}
            picture={picture}
            position={index + 1}
            isMovable={(offset) => canMove(index, index + offset)}
            onMove={(from, to) => canMove(from, to) && change(moveItem(pictures, from, to))}
            onToggle={() => toggle(picture)}
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
          // Allows the same file to be chosen again after it was taken out.
          target.value = '';
        }}
      />
      <label className="button quiet drop" htmlFor="images">
        <Icon name="picture" />
        {t('pictures.add')}
      </label>
      <p className="hint" role="status">
        {isPreparing ? t('pictures.preparing') : t('pictures.remaining', { count: remaining })}
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

function countRemaining(pictures: EditedPicture[]) {
  return pictures.filter(({ isRemoved }) => !isRemoved).length;
}

/** Returns a function that creates object URLs, which are revoked when the form disappears. */
function useObjectUrls() {
  const urls = useRef<string[]>([]);
  useEffect(() => {
    const created = urls.current;
    return () => created.forEach((url) => URL.revokeObjectURL(url));
  }, []);
  return (file: File) => {
    const url = URL.createObjectURL(file);
    urls.current.push(url);
    return url;
  };
}

interface PreparedPicture {
  /** Name of the chosen file. */
  name: string;
  /** Null if the browser cannot decode the file. */
  shrunk: File | null;
}

async function preparePicture(file: File): Promise<PreparedPicture> {
  return { name: file.name, shrunk: await shrinkPicture(file) };
}

/** Describes why a picture cannot be added. Returns an empty list if it can be added. */
function describeProblem({ name, shrunk }: PreparedPicture) {
  if (shrunk === null) return [t('pictures.notPicture', { name })];
  return shrunk.size > MAX_BYTES ? [t('pictures.tooLarge', { name })] : [];
}
