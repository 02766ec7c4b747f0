import { h, svg } from '../dom.js';

type Shape = readonly { readonly d: string; readonly kind: 'crust' | 'light' | 'line' }[];

/** Baked goods in a square of 120, drawn for products that have no picture. */
const SHAPES = {
  loaf: [
    {
      d: 'M22 80V60c-8-4-9-22 8-25 8-9 52-9 60 0 17 3 16 21 8 25v20c0 4-3 6-6 6H28c-3 0-6-2-6-6Z',
      kind: 'crust',
    },
    { d: 'M38 50c4-3 8-3 12 0M56 46c4-3 8-3 12 0M74 50c4-3 8-3 12 0', kind: 'line' },
  ],
  bun: [
    { d: 'M20 78c0-26 18-42 40-42s40 16 40 42c0 5-4 7-8 7H28c-4 0-8-2-8-7Z', kind: 'crust' },
    { d: 'M46 54l4-4M60 50l5-3M74 58l5-2M52 66l5-3M68 68l5-3', kind: 'line' },
  ],
  croissant: [
    {
      d: 'M16 80c0-28 20-46 44-46s44 18 44 46c-6 6-15 4-19-3-4-9-13-14-25-14s-21 5-25 14c-4 7-13 9-19 3Z',
      kind: 'crust',
    },
    { d: 'M45 37l-6 29M75 37l6 29M60 34v29M29 49l-2 28M91 49l2 28', kind: 'line' },
  ],
  cake: [
    { d: 'M22 62 92 40c6 6 8 14 8 22Z', kind: 'light' },
    { d: 'M22 62h78v22H22Z', kind: 'crust' },
    { d: 'M22 69h78M22 77h78', kind: 'line' },
  ],
  ring: [
    { d: 'M60 32a29 29 0 1 0 0 58 29 29 0 0 0 0-58Zm0 19a10 10 0 1 1 0 20 10 10 0 0 1 0-20Z', kind: 'crust' },
    { d: 'M42 48l3 4M72 43l-2 5M80 66l-5-1M47 78l4-3M66 82l-1-4', kind: 'line' },
  ],
} as const satisfies Record<string, Shape>;

type ShapeName = keyof typeof SHAPES;

const WORDS: readonly (readonly [RegExp, ShapeName])[] = [
  [/croissant|cornetto|kouign/i, 'croissant'],
  [/donat|donut|doughnut|bagel|ring/i, 'ring'],
  [/cake|kue|lapis|bolu|tart|brownie|slice|legit|cheese/i, 'cake'],
  [/roti|bread|loaf|sourdough|toast|rye/i, 'loaf'],
  [/bun|roll|bakpao|scone|muffin|cookie/i, 'bun'],
];
const NAMES: readonly ShapeName[] = ['bun', 'loaf', 'croissant', 'cake', 'ring'];
const TINTS = 5;

interface Pictured {
  readonly id: number;
  readonly name: string;
  readonly image: string | null;
}

/** The picture of a product; a drawing if it has none, or if it cannot be loaded. */
export function picture(product: Pictured, alt: string, isEager = false): HTMLElement {
  const frame = h('div', { class: `picture tint-${product.id % TINTS}` });
  if (product.image === null) {
    frame.append(drawing(product));
    return frame;
  }
  const image = h('img', {
    src: product.image,
    alt,
    width: 640,
    height: 480,
    decoding: 'async',
    loading: isEager ? 'eager' : 'lazy',
    on: {
      error: () => {
        frame.replaceChildren(drawing(product));
      },
    },
  });
  frame.append(image);
  return frame;
}

function drawing({ id, name }: Pictured): SVGElement {
  const shape = WORDS.find(([word]) => word.test(name))?.[1] ?? NAMES[id % NAMES.length] ?? 'bun';
  return svg(
    'svg',
    { viewBox: '0 0 120 120', class: 'drawing', 'aria-hidden': 'true' },
    svg('ellipse', { cx: 60, cy: 90, rx: 42, ry: 4, class: 'shadow' }),
    ...SHAPES[shape].map(({ d, kind }) => svg('path', { d, class: kind, 'fill-rule': 'evenodd' })),
  );
}
