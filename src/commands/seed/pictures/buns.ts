import type { Random } from '../random.js';
import { type Canvas, type Colour, colour, mix } from './canvas.js';
import { contact, type Mood, plate, scene } from './scene.js';
import { both, ellipse, type Point, slab, stroke, turned, union, without } from './shapes.js';

const DUSTING = colour('#fff6e4');
const DARK = colour('#4a230d');

/** Glazed buns on a plate, with seeds or a filling that shows. */
export function buns(mood: Mood, crust: Colour, topping: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 376], 250);
  for (const [x, y, size] of [
    [252, 300, 92],
    [400, 296, 90],
    [326, 340, 104],
  ] as const) {
    const bun = both(
      ellipse([x, y], size, size * 0.74),
      slab(x - size, y - size, x + size, y + size * 0.52, 34),
    );
    contact(canvas, [x, y + size * 0.5], size * 0.92, size * 0.2);
    canvas.body(bun, crust, { bulge: size * 0.74, shade: 0.7, shine: 0.42 });
    canvas.fill(
      both(bun, slab(x - size, y + size * 0.3, x + size, y + size, 6)),
      mix(crust, DUSTING, 0.6),
      0.4,
    );
    canvas.fill(
      turned(ellipse([x - size * 0.34, y - size * 0.42], size * 0.26, size * 0.1), -28, [
        x - size * 0.34,
        y - size * 0.42,
      ]),
      DUSTING,
      0.42,
    );
    for (let seed = 0; seed < 24; seed += 1) {
      const [angle, far] = [random.between(0, Math.PI * 2), Math.sqrt(random.next()) * 0.56];
      const at: Point = [
        x + Math.cos(angle) * far * size,
        y - size * 0.22 + Math.sin(angle) * far * size * 0.6,
      ];
      canvas.body(turned(ellipse(at, 4.6, 2.7), random.between(0, 180), at), topping, {
        bulge: 2.4,
        shade: 0.4,
      });
    }
  }
  return canvas;
}

/** A croissant, fat in the middle, its rolls laid over each other. */
export function croissant(mood: Mood, crust: Colour, crumb: Colour): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 384], 258);
  canvas.shadow(ellipse([330, 374], 214, 34), 22, 0.5);
  const rolls = [
    [-4, 30, 26],
    [4, 30, 26],
    [-3, 56, 40],
    [3, 56, 40],
    [-2, 82, 54],
    [2, 82, 54],
    [-1, 104, 66],
    [1, 104, 66],
    [0, 116, 72],
  ] as const;
  for (const [place, tall, wide] of rolls) {
    const x = 320 + place * 47 - Math.sign(place) * Math.abs(place) ** 2 * 0.6;
    const y = 284 + place ** 2 * 4.6;
    const roll = turned(ellipse([x, y], wide * 0.82, tall * 0.78), place * 15, [x, y]);
    canvas.shadow(turned(ellipse([x + 4, y + 6], wide * 0.84, tall * 0.78), place * 15, [x, y]), 8, 0.4);
    canvas.body(roll, mix(crust, crumb, 0.1 + 0.08 * (4 - Math.abs(place)) * 0.5), {
      bulge: wide * 0.62,
      shade: 0.66,
      shine: 0.46,
    });
    for (const line of [-0.42, 0, 0.42]) {
      const shift = line * wide;
      const curve: Point[] = [-0.6, -0.2, 0.2, 0.6].map((part): Point => [
        x + shift + part * 6,
        y + part * tall * (1 - Math.abs(line) * 0.5),
      ]);
      canvas.fill(both(turned(stroke(curve, 2.4), place * 15, [x, y]), roll), mix(crust, DARK, 0.5), 0.28);
    }
  }
  return canvas;
}

/** A ring of dough with icing and sprinkles, and another one behind it. */
export function doughnuts(mood: Mood, icing: Colour, dough: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 384], 262);
  const sprinkles: readonly [Colour, ...Colour[]] = [
    colour('#fff3d6'),
    colour('#f2b134'),
    colour('#e4572e'),
    colour('#7fb069'),
    DARK,
  ];
  for (const [x, y, wide] of [
    [222, 312, 118],
    [424, 306, 116],
    [322, 348, 132],
  ] as const) {
    const tall = wide * 0.56;
    contact(canvas, [x, y + tall * 0.72], wide * 0.94, wide * 0.2);
    const hole = ellipse([x, y - 6], wide * 0.27, tall * 0.22);
    canvas.body(without(ellipse([x, y + 10], wide, tall), hole), dough, {
      bulge: 44,
      shade: 0.6,
      shine: 0.2,
    });
    const waves = Array.from({ length: 9 }, (_, wave) => {
      const angle = (wave / 9) * Math.PI * 2 + 0.3;
      return ellipse(
        [x + Math.cos(angle) * wide * 0.72, y - 6 + Math.sin(angle) * tall * 0.64],
        wide * 0.24,
        tall * 0.27,
      );
    });
    const top = without(union(16, ellipse([x, y - 8], wide * 0.86, tall * 0.78), ...waves), hole);
    canvas.body(top, icing, { bulge: 26, shade: 0.5, shine: 0.6 });
    for (let sprinkle = 0; sprinkle < 34; sprinkle += 1) {
      const [angle, far] = [random.between(0, Math.PI * 2), random.between(0.42, 0.8)];
      const at: Point = [x + Math.cos(angle) * far * wide, y - 8 + Math.sin(angle) * far * tall * 0.86];
      canvas.body(
        turned(slab(at[0] - 6, at[1] - 2.2, at[0] + 6, at[1] + 2.2, 2.2), random.between(0, 180), at),
        random.pick(sprinkles),
        { bulge: 2, shade: 0.3 },
      );
    }
  }
  return canvas;
}
