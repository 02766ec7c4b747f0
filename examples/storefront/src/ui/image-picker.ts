import { fill, h } from '../dom.js';
import { count, sentence } from '../format.js';
import { icon } from './icons.js';

/** The service's limits of a product's pictures. */
const MAX_IMAGES = 5;
const MAX_BYTES = 5 * 1024 * 1024;
const ACCEPTED = /\.(png|jpe?g)$/i;

export interface ImagePicker {
  readonly node: HTMLElement;
  /** New files, in the order in which they were picked. */
  added(): File[];
  /** Addresses of present pictures to be removed. */
  removed(): ReadonlySet<string>;
  complain(text?: string): void;
}

/** The pictures of a product: present ones can be removed, new ones are shown before anything is sent. */
export function imagePicker(present: readonly string[], signal: AbortSignal): ImagePicker {
  const removed = new Set<string>();
  const previews = new Map<File, string>();
  const list = h('ul', { class: 'thumbs', 'aria-label': 'Pictures' });
  const said = h('p', { class: 'hint', role: 'status' });
  const complaint = h('p', { class: 'complaint', role: 'alert' });
  const input = h('input', {
    type: 'file',
    id: 'images',
    class: 'hidden',
    accept: '.png,.jpg,.jpeg',
    multiple: true,
    'aria-describedby': 'images-hint',
    on: {
      change: () => {
        add([...(input.files ?? [])]);
        // The same file may be picked again after it was taken out.
        input.value = '';
      },
    },
  });
  const node = h(
    'div',
    { class: 'field images' },
    h('span', { class: 'label' }, 'Pictures'),
    h('p', { class: 'hint', id: 'images-hint' }, `Up to ${MAX_IMAGES}, PNG or JPEG, 5 MiB each.`),
    list,
    input,
    h('label', { class: 'button quiet drop', for: 'images' }, icon('picture'), 'Add pictures'),
    said,
    complaint,
  );

  const remaining = (): number => present.length - removed.size + previews.size;
  const add = (files: readonly File[]): void => {
    const problems = [];
    for (const file of files) {
      if (!ACCEPTED.test(file.name)) problems.push(`${file.name} is no PNG or JPEG`);
      else if (file.size > MAX_BYTES) problems.push(`${file.name} is larger than 5 MiB`);
      else if (remaining() >= MAX_IMAGES) problems.push(`there is no room for ${file.name}`);
      else previews.set(file, URL.createObjectURL(file));
    }
    complain(problems.length > 0 ? `Not added: ${problems.join('; ')}` : undefined);
    draw();
  };
  const complain = (text?: string): void => {
    fill(complaint, text !== undefined && sentence(text));
  };
  const forget = (file: File): void => {
    URL.revokeObjectURL(previews.get(file) ?? '');
    previews.delete(file);
    draw();
  };
  const draw = (): void => {
    fill(
      list,
      present.map((address, index) => {
        const isRemoved = removed.has(address);
        const name = `picture ${index + 1}`;
        const toggle = (): void => {
          if (isRemoved && remaining() >= MAX_IMAGES) {
            complain('There is no room for it any more');
            return;
          }
          if (isRemoved) removed.delete(address);
          else removed.add(address);
          draw();
          list.querySelectorAll('button')[index]?.focus();
        };
        return thumb(
          address,
          name,
          isRemoved ? 'goes' : 'present',
          isRemoved ? `Keep ${name}` : `Remove ${name}`,
          toggle,
        );
      }),
      [...previews].map(([file, address]) =>
        thumb(address, file.name, 'new', `Take out ${file.name}`, () => {
          forget(file);
          input.focus();
        }),
      ),
    );
    fill(said, `${count(remaining(), 'picture')} after saving.`);
  };
  signal.addEventListener('abort', () => {
    for (const address of previews.values()) URL.revokeObjectURL(address);
  });
  draw();
  return { node, added: () => [...previews.keys()], removed: () => removed, complain };
}

function thumb(
  address: string,
  name: string,
  state: 'present' | 'goes' | 'new',
  action: string,
  act: () => void,
): HTMLElement {
  return h(
    'li',
    { class: `thumb ${state}` },
    h('img', { src: address, alt: name, width: 160, height: 120 }),
    state !== 'present' && h('span', { class: 'badge plain' }, state === 'new' ? 'New' : 'Will go'),
    h(
      'button',
      { type: 'button', 'aria-label': action, on: { click: act } },
      state === 'goes' ? 'Keep' : icon('cross'),
    ),
  );
}
