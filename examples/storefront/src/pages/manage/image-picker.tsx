import { useRef, useState } from 'react';
import { useController } from 'react-hook-form';
import { Icon } from '../../components/icon';
import { count, sentence } from '../../format';

/** Limits of a product's pictures. */
const MAX_IMAGES = 5;
const MAX_BYTES = 5 * 1024 * 1024;
const ACCEPTED = /\.(png|jpe?g)$/i;

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
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const remaining = present.length - removed.length + added.length;
  const message = problem ?? fieldState.error?.message;

  const change = (choice: Partial<ImageChoice>, complaint?: string) => {
    setProblem(complaint);
    field.onChange({ added, removed, ...choice });
  };
  const add = (files: File[]) => {
    const good = files.filter((file) => problemOf(file) === null);
    const fitting = good.slice(0, MAX_IMAGES - remaining);
    const problems = files.map(problemOf).filter((text) => text !== null);
    if (fitting.length < good.length) problems.push(`a product can have ${MAX_IMAGES} pictures`);
    const previews = fitting.map((file) => ({ file, preview: URL.createObjectURL(file) }));
    const complaint = problems.length > 0 ? `Not added: ${problems.join('; ')}` : undefined;
    change({ added: [...added, ...previews] }, complaint);
  };
  const takeOut = (preview: string) => {
    URL.revokeObjectURL(preview);
    change({ added: added.filter((other) => other.preview !== preview) });
    input.current?.focus();
  };
  const remove = (address: string) => change({ removed: [...removed, address] });
  const keep = (address: string) => {
    if (remaining < MAX_IMAGES) change({ removed: removed.filter((other) => other !== address) });
    else setProblem(`A product can have ${MAX_IMAGES} pictures`);
  };

  return (
    <div className="field images">
      <span className="label">Pictures</span>
      <p className="hint" id="images-hint">
        Up to {MAX_IMAGES}, PNG or JPEG, 5 MiB each.
      </p>
      <ul className="thumbs" aria-label="Pictures">
        {present.map((address, index) => {
          const name = `picture ${index + 1}`;
          const isRemoved = removed.includes(address);
          const act = isRemoved ? keep : remove;
          return (
            <Thumb
              key={address}
              src={address}
              name={name}
              action={isRemoved ? 'Keep' : 'Remove'}
              onAction={act}
            />
          );
        })}
        {added.map(({ file, preview }) => (
          <Thumb key={preview} src={preview} name={file.name} action="Take out" onAction={takeOut} />
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
        {count(remaining, 'picture')} after saving.
      </p>
      <p className="complaint" role="alert">
        {message !== undefined && sentence(message)}
      </p>
    </div>
  );
}

function problemOf({ name, size }: File) {
  if (!ACCEPTED.test(name)) return `${name} is no PNG or JPEG`;
  return size > MAX_BYTES ? `${name} is larger than 5 MiB` : null;
}

interface ThumbProps {
  src: string;
  name: string;
  action: keyof typeof BADGES;
  onAction: (src: string) => void;
}

const BADGES = { Remove: null, Keep: 'Will go', 'Take out': 'New' };

function Thumb({ src, name, action, onAction }: ThumbProps) {
  return (
    <li className={action === 'Keep' ? 'thumb goes' : 'thumb'}>
      <img src={src} alt={name} width={160} height={120} />
      {BADGES[action] && <span className="badge plain">{BADGES[action]}</span>}
      <button type="button" aria-label={`${action} ${name}`} onClick={() => onAction(src)}>
        {action === 'Keep' ? 'Keep' : <Icon name="cross" />}
      </button>
    </li>
  );
}
