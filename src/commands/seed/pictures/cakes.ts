import { type Canvas, type Colour, colour, mix } from './canvas.js';
import { contact, type Mood, plate, scene } from './scene.js';
import { both, ellipse, type Point, polygon, slab, stroke, turned, union, without } from './shapes.js';

const CREAM = colour('#fff4e0');
const DARK = colour('#43200c');
const LEAF = colour('#6f9a3c');

/** Slabs of many thin layers, as of lapis legit, or of a few bright ones. */
export function layers(mood: Mood, colours: readonly [Colour, ...Colour[]], count: number): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 388], 268);
  for (const [left, top, width] of [
    [300, 190, 200],
    [150, 222, 220],
  ] as const) {
    const [bottom, lift, depth] = [top + 158, 44, 52];
    contact(canvas, [left + width / 2 + 26, bottom + 2], width * 0.66, 24);
    const [first] = colours;
    const side = polygon(
      [
        [left + width, top],
        [left + width + depth, top - lift],
        [left + width + depth, bottom - lift],
        [left + width, bottom],
      ],
      3,
    );
    const front = slab(left - 3, top - 3, left + width + 3, bottom + 3, 6);
    canvas.body(side, mix(first, DARK, 0.4), { bulge: 0 });
    canvas.body(front, first, { bulge: 0 });
    const thick = (bottom - top) / count;
    for (let layer = 0; layer < count; layer += 1) {
      const paint = colours[layer % colours.length] ?? first;
      const y = top + layer * thick;
      canvas.fill(both(slab(left - 4, y, left + width + 4, y + thick, 0), front), paint);
      canvas.fill(
        both(slab(left - 4, y, left + width + 4, y + Math.min(thick * 0.3, 4), 0), front),
        CREAM,
        0.13,
      );
      const edge = polygon([
        [left + width, y],
        [left + width + depth + 4, y - lift - 3],
        [left + width + depth + 4, y - lift - 3 + thick],
        [left + width, y + thick],
      ]);
      canvas.fill(both(edge, side), mix(paint, DARK, 0.34));
    }
    const lid = polygon(
      [
        [left, top],
        [left + depth, top - lift],
        [left + width + depth, top - lift],
        [left + width, top],
      ],
      3,
    );
    canvas.body(lid, mix(colours[0], DARK, 0.08), { bulge: 10, shade: 0.2, shine: 0.4 });
    canvas.fill(
      polygon([
        [left + 24, top - 10],
        [left + depth, top - lift + 8],
        [left + width * 0.5, top - lift + 8],
        [left + width * 0.38, top - 10],
      ]),
      CREAM,
      0.2,
    );
  }
  return canvas;
}

/** A cake of two tiers of sponge, icing that runs down, and fruit on top. */
export function roundCake(mood: Mood, sponge: Colour, icing: Colour, fruit: Colour): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 394], 262);
  const [left, right, top, bottom] = [142, 498, 212, 376];
  const wall = union(36, slab(left, top, right, bottom, 4), ellipse([320, bottom], 178, 34));
  contact(canvas, [326, bottom + 26], 186, 30);
  canvas.body(wall, sponge, { bulge: 66, shade: 0.62, shine: 0.24 });
  const band = both(union(0, slab(left - 4, 284, right + 4, 312, 0), ellipse([320, 312], 182, 34)), wall);
  canvas.fill(without(band, ellipse([320, 284], 182, 34)), CREAM, 0.9);
  const drips = [158, 196, 236, 282, 326, 370, 412, 452, 484].map((x, number) => {
    const sag = 34 * Math.sqrt(Math.max(1 - ((x - 320) / 178) ** 2, 0));
    return slab(x - 15, top - 4, x + 15, top + sag + 26 + ((number * 37) % 34), 15);
  });
  const run = union(20, ellipse([320, top + 2], 182, 37), ...drips);
  canvas.shadow(run, 7, 0.3);
  canvas.body(run, icing, { bulge: 14, shade: 0.45, shine: 0.6 });
  canvas.body(ellipse([320, top - 2], 172, 30), mix(icing, CREAM, 0.1), {
    bulge: 14,
    shade: 0.12,
    shine: 0.4,
  });
  const places = Array.from({ length: 7 }, (_, place): Point => {
    const angle = (place / 7) * Math.PI * 2 + 0.25;
    return [320 + Math.cos(angle) * 118, top - 14 + Math.sin(angle) * 18];
  });
  // The farther ones first.
  for (const [x, y] of places.sort((a, b) => a[1] - b[1])) {
    canvas.shadow(ellipse([x + 5, y + 16], 26, 9), 8, 0.4);
    canvas.body(union(10, ellipse([x, y + 6], 27, 13), ellipse([x, y - 5], 18, 12)), CREAM, {
      bulge: 13,
      shade: 0.25,
    });
    canvas.body(ellipse([x, y - 25], 18, 18), fruit, { bulge: 18, shade: 0.65, shine: 0.6 });
    canvas.fill(ellipse([x - 6, y - 31], 5, 3.4), CREAM, 0.85);
    canvas.fill(
      stroke(
        [
          [x + 2, y - 40],
          [x + 8, y - 56],
        ],
        2.6,
      ),
      mix(LEAF, DARK, 0.4),
    );
  }
  return canvas;
}

/** Cupcakes in paper with a swirl of cream. */
export function cupcakes(mood: Mood, cake: Colour, cream: Colour, paper: Colour): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 398], 266);
  for (const [x, y, size] of [
    [196, 350, 0.84],
    [446, 350, 0.84],
    [320, 388, 1.04],
  ] as const) {
    const cup = polygon(
      [
        [x - 70 * size, y - 92 * size],
        [x + 70 * size, y - 92 * size],
        [x + 50 * size, y],
        [x - 50 * size, y],
      ],
      6,
    );
    contact(canvas, [x, y + 2], 62 * size, 14 * size);
    canvas.body(ellipse([x, y - 96 * size], 80 * size, 36 * size), cake, { bulge: 30, shade: 0.5 });
    canvas.body(cup, paper, { bulge: 34, shade: 0.5, shine: 0.3 });
    for (let fold = -4; fold <= 4; fold += 1) {
      canvas.fill(
        both(
          stroke(
            [
              [x + fold * 16 * size, y - 96 * size],
              [x + fold * 11.4 * size, y + 4],
            ],
            3.4 * size,
          ),
          cup,
        ),
        DARK,
        0.16,
      );
    }
    for (let turn = 0; turn < 4; turn += 1) {
      const wide = (84 - turn * 21) * size;
      const at: Point = [x + (turn % 2 === 0 ? -3 : 4) * size, y - (114 + turn * 27) * size];
      const ring = turned(ellipse(at, wide, (27 - turn * 1.5) * size), -6, at);
      canvas.shadow(turned(ellipse([at[0] + 2, at[1] + 8], wide, 25 * size), -6, at), 8, 0.26);
      canvas.body(ring, cream, { bulge: 24 * size, shade: 0.36, shine: 0.55 });
    }
    canvas.body(ellipse([x, y - 222 * size], 15 * size, 15 * size), colour('#c8322f'), {
      bulge: 14,
      shade: 0.6,
      shine: 0.7,
    });
    canvas.fill(ellipse([x - 5 * size, y - 227 * size], 4 * size, 3 * size), CREAM, 0.9);
  }
  return canvas;
}

/** A rolled sponge whose cut face shows the spiral. */
export function rollCake(mood: Mood, sponge: Colour, filling: Colour, skin: Colour): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 394], 272);
  const back: Point = [466, 262];
  const face: Point = [232, 302];
  canvas.shadow(
    stroke(
      [
        [face[0] + 14, 352],
        [back[0] + 30, 330],
      ],
      108,
    ),
    26,
    0.5,
  );
  canvas.body(stroke([face, back], 176), skin, { bulge: 84, shade: 0.68, shine: 0.34 });
  for (let line = 0; line < 5; line += 1) {
    canvas.fill(
      stroke(
        [
          [262 + line * 46, 212 - line * 8],
          [270 + line * 46, 200 - line * 8],
        ],
        8,
      ),
      CREAM,
      0.3,
    );
  }
  {
    const [x, y] = face;
    const cut = turned(ellipse([x, y], 80, 88), -8, [x, y]);
    canvas.body(cut, skin, { bulge: 8, shade: 0.4 });
    canvas.body(turned(ellipse([x, y], 74, 82), -8, [x, y]), sponge, { bulge: 20, shade: 0.2 });
    const spiral = Array.from({ length: 96 }, (_, step): Point => {
      const angle = step * 0.165;
      return [x + Math.cos(angle) * step * 0.68, y + Math.sin(angle) * step * 0.76];
    });
    canvas.body(both(stroke(spiral, 9), cut), filling, { bulge: 4, shade: 0.2, shine: 0.4 });
  }
  const slice: Point = [132, 352];
  contact(canvas, [slice[0] + 6, 394], 76, 16);
  canvas.body(ellipse([slice[0] + 12, slice[1] + 4], 70, 54), mix(skin, DARK, 0.2), { bulge: 16 });
  canvas.body(ellipse(slice, 70, 54), sponge, { bulge: 12, shade: 0.3 });
  const small = Array.from({ length: 84 }, (_, step): Point => {
    const angle = step * 0.18 + 1;
    return [slice[0] + Math.cos(angle) * step * 0.68, slice[1] + Math.sin(angle) * step * 0.52];
  });
  canvas.body(stroke(small, 8), filling, { bulge: 4, shade: 0.2, shine: 0.4 });
  return canvas;
}
