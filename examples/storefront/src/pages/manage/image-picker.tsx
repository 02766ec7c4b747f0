import { useRef } from 'react';
import { useController } from 'react-hook-form';
import { Icon } from '../../components/icon';
import { count } from '../../format';

export interface ImageChoice {
  /** New files in the order in which they were chosen, with the address under which the browser shows them. */
  added: { file: File; preview: string }[];
  /** Addresses of present pictures that are to be removed. */
  removed: string[];
}

interface ImagePickerProps {
  /** Key of the `ImageChoice` in the form. */
  name: string;
  /** Addresses of the pictures that the product has. */
  present: string[];
}

/** The pictures of a product: present ones can be removed, new ones are shown before anything is sent. */
export function ImagePicker({ name, present }: ImagePickerProps) {
  const { field, fieldState } = useController({ name });
  const { added, removed } = field.value as ImageChoice;
  const input = useRef<HTMLInputElement>(null);

  const add = (files: File[]) => {
    const chosen = files.map((file) => ({ file, preview: URL.createObjectURL(file) }));
    field.onChange({ removed, added: [...added, ...chosen] });
  };
  const takeOut = (preview: string) => {
    URL.revokeObjectURL(preview);
    field.onChange({ removed, added: added.filter((other) => other.preview !== preview) });
    input.current?.focus();
  };
  const remove = (address: string) => {
    field.onChange({ added, removed: [...removed, address] });
    input.current?.focus();
  };

  return (
    <div className="field images">
      <span className="label">Pictures</span>
      <p className="hint" id="images-hint">
        Up to 5, PNG or JPEG, 5 MiB each.
      </p>
      <ul className="thumbs" aria-label="Pictures">
        {present.map(
          (address, index) =>
            !removed.includes(address) && (
              <Thumb key={address} src={address} name={`picture ${index + 1}`} onRemove={remove} />
            ),
        )}
        {added.map(({ file, preview }) => (
          <Thumb key={preview} src={preview} name={file.name} onRemove={takeOut} />
        ))}
      </ul>
      <input
        ref={input}
        type="file"
        id="images"
        className="hidden"
        accept=".png,.jpg,.jpeg"
        multiple
        aria-describedby="images-hint"
        onChange={({ target }) => {
          add([...(target.files ?? [])]);
          // So that the same file can be chosen again after it was taken out.
          target.value = '';
        }}
      />
      <label className="button quiet drop" htmlFor="images">
        <Icon name="picture" />
        Add pictures
      </label>
      <p className="hint" role="status">
        {count(present.length - removed.length + added.length, 'picture')} after saving.
      </p>
      <p className="complaint" role="alert">
        {fieldState.error?.message}
      </p>
    </div>
  );
}

interface ThumbProps {
  src: string;
  name: string;
  onRemove: (src: string) => void;
}

function Thumb({ src, name, onRemove }: ThumbProps) {
  return (
    <li className="thumb">
      <img src={src} alt={name} width={160} height={120} />
      <button type="button" aria-label={`Remove ${name}`} onClick={() => onRemove(src)}>
        <Icon name="cross" />
      </button>
    </li>
  );
}
