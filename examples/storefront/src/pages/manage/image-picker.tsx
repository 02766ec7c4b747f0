import { useRef } from 'react';
import { useController, useFormContext } from 'react-hook-form';
import type { EditedPicture } from '../../api/products';
import { Icon } from '../../components/icon';
import { formatCount, toSentence } from '../../format';

const MAX_IMAGES = 5;
const MAX_BYTES = 5 * 1024 * 1024;
const ACCEPTED = /\.(png|jpe?g)$/i;
const TOO_MANY = `a product can have ${MAX_IMAGES} pictures`;

/** Form field `images`: marks existing pictures for removal and previews new ones before the upload. */
export function ImagePicker() {
  const { field, fieldState } = useController({ name: 'images' });
  const pictures = field.value as EditedPicture[];
  const { setError, clearErrors } = useFormContext();
  const input = useRef<HTMLInputElement>(null);
  const remaining = pictures.filter(({ isRemoved }) => !isRemoved).length;

  const showError = (message: string) => setError('images', { message: toSentence(message) });
  const change = (changed: EditedPicture[]) => {
    field.onChange(changed);
    clearErrors('images');
  };
  const add = (files: File[]) => {
    const good = files.filter((file) => findProblem(file) === null);
    const fitting = good.slice(0, MAX_IMAGES - remaining);
    const problems = files.map(findProblem).filter((text) => text !== null);
    if (fitting.length < good.length) problems.push(TOO_MANY);
    change([...pictures, ...fitting.map((file) => ({ file, src: URL.createObjectURL(file) }))]);
    if (problems.length > 0) showError(`Not added: ${problems.join('; ')}`);
  };
  // Takes out a new picture at once. Marks or unmarks an existing picture: saving the form removes the marked pictures.
  const toggle = ({ src, file, isRemoved = false }: EditedPicture) => {
    if (file) {
      URL.revokeObjectURL(src);
      change(pictures.filter((picture) => picture.src !== src));
      input.current?.focus();
    } else if (isRemoved && remaining >= MAX_IMAGES) showError(TOO_MANY);
    else change(pictures.map((picture) => (picture.src === src ? { src, isRemoved: !isRemoved } : picture)));
  };

  return (
    <div className="field images">
      <span className="label">Pictures</span>
      <p className="hint" id="images-hint">
        Up to {MAX_IMAGES}, PNG or JPEG, 5 MiB each.
      </p>
      <ul className="thumbs" aria-label="Pictures">
        {pictures.map((picture, index) => (
          <Thumb key={picture.src} picture={picture} position={index + 1} onToggle={() => toggle(picture)} />
        ))}
      </ul>
      <input
        ref={input}
        type="file"
        id="images"
        className="visually-hidden"
        accept=".png,.jpg,.jpeg"
        multiple
        aria-describedby="images-hint"
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          // Allows the same file to be chosen again after it was taken out.
          target.value = '';
        }}
      />
      <label className="button quiet drop" htmlFor="images">
        <Icon name="picture" />
        Add pictures
      </label>
      <p className="hint" role="status">
        {formatCount(remaining, 'picture')} after saving.
      </p>
      <p className="error" role="alert">
        {fieldState.error?.message}
      </p>
    </div>
  );
}

function findProblem({ name, size }: File) {
  if (!ACCEPTED.test(name)) return `${name} is not a PNG or JPEG file`;
  return size > MAX_BYTES ? `${name} is larger than 5 MiB` : null;
}

interface ThumbProps {
  picture: EditedPicture;
  position: number;
  onToggle: () => void;
}

function Thumb({ picture, position, onToggle }: ThumbProps) {
  const { src, file, isRemoved = false } = picture;
  const name = file?.name ?? `picture ${position}`;
  const [action, badge] = file ? ['Take out', 'New'] : isRemoved ? ['Keep', 'Will be removed'] : ['Remove'];
  return (
    <li className={isRemoved ? 'thumb removed' : 'thumb'}>
      <img src={src} alt={name} width={160} height={120} />
      {badge && <span className="badge plain">{badge}</span>}
      <button type="button" aria-label={`${action} ${name}`} onClick={onToggle}>
        {isRemoved ? action : <Icon name="cross" />}
      </button>
    </li>
  );
}
