import type { Random } from '../random.js';
import { type Canvas, type Colour, colour, mix } from './canvas.js';
import { contact, type Mood, plate, scene } from './scene.js';
import { ellipse, type Point, polygon, slab, stroke, turned, union } from './shapes.js';

const CREAM = colour('#fff4e0');
const DARK = colour('#43200c');
const LEAF = colour('#6f9a3c');

/** A heap of small round biscuits, each with a drop of jam, a clove or a nut. */
export function biscuits(mood: Mood, dough: Colour, centre: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 388], 264);
  const rows = [
    [308, 4, 104],
    [352, 5, 100],
    [258, 3, 104],
    [310, 2, 108],
    [212, 2, 104],
    [172, 1, 104],
  ] as const;
  for (const [y, count, gap] of rows) {
    for (let place = 0; place < count; place += 1) {
      const x = 320 + (place - (count - 1) / 2) * gap + random.between(-6, 6);
      const at = y + random.between(-5, 5);
      canvas.shadow(ellipse([x + 5, at + 18], 56, 36), 14, 0.42);
      canvas.body(ellipse([x, at], 55, 42), mix(dough, DARK, random.between(0, 0.12)), {
        bulge: 40,
        shade: 0.62,
        shine: 0.5,
      });
      canvas.fill(ellipse([x, at - 9], 22, 13), mix(dough, DARK, 0.4), 0.5);
      canvas.body(ellipse([x, at - 11], 19, 12), centre, { bulge: 12, shade: 0.5, shine: 0.7 });
      canvas.fill(ellipse([x - 6, at - 15], 5, 2.6), CREAM, 0.6);
    }
  }
  return canvas;
}

/** An open tart with rings of fruit. */
export function tart(mood: Mood, shell: Colour, fruits: readonly [Colour, Colour], random: Random): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 372], 276);
  const [x, y] = [320, 314];
  contact(canvas, [x, y + 66], 222, 44);
  const teeth = Array.from({ length: 30 }, (_, tooth) => {
    const angle = (tooth / 30) * Math.PI * 2;
    return ellipse([x + Math.cos(angle) * 212, y + Math.sin(angle) * 92], 25, 19);
  });
  canvas.body(
    union(0, slab(x - 208, y, x + 208, y + 34, 20), ellipse([x, y + 32], 204, 88)),
    mix(shell, DARK, 0.25),
    { bulge: 30, shade: 0.6 },
  );
  canvas.body(union(8, ellipse([x, y], 214, 94), ...teeth), shell, { bulge: 16, shade: 0.5, shine: 0.4 });
  canvas.body(ellipse([x, y - 2], 190, 78), colour('#f7dc94'), { bulge: 12, shade: 0.3 });
  for (const [far, count, kind] of [
    [0.8, 20, 0],
    [0.5, 13, 1],
    [0.2, 6, 0],
  ] as const) {
    for (let place = 0; place < count; place += 1) {
      const angle = (place / count) * Math.PI * 2 + far * 3;
      const at: Point = [x + Math.cos(angle) * 190 * far, y - 10 + Math.sin(angle) * 78 * far];
      const paint = mix(fruits[kind], DARK, random.between(0, 0.14));
      canvas.shadow(ellipse([at[0] + 3, at[1] + 9], 23, 13), 8, 0.45);
      canvas.body(ellipse(at, 23, 17), paint, { bulge: 17, shade: 0.6, shine: 0.6 });
      canvas.fill(ellipse([at[0] - 7, at[1] - 7], 6, 3), CREAM, 0.7);
    }
  }
  for (const [dx, angle] of [
    [-16, -36],
    [16, 24],
  ] as const) {
    const at: Point = [x + dx, y - 26];
    canvas.body(turned(ellipse(at, 22, 9), angle, at), LEAF, { bulge: 8, shade: 0.4 });
  }
  return canvas;
}

/** A pyramid of small balls, dusted with coconut or sesame, on a leaf. */
export function balls(mood: Mood, skin: Colour, dust: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  plate(canvas, mood, [320, 386], 268);
  const leaf = polygon(
    [
      [92, 372],
      [200, 334],
      [330, 322],
      [450, 336],
      [556, 366],
      [450, 410],
      [320, 424],
      [190, 412],
    ],
    6,
  );
  canvas.shadow(leaf, 12, 0.25);
  canvas.body(leaf, LEAF, { bulge: 30, shade: 0.5, shine: 0.2 });
  canvas.fill(
    stroke(
      [
        [96, 374],
        [320, 368],
        [552, 368],
      ],
      3.4,
    ),
    mix(LEAF, CREAM, 0.5),
  );
  for (const [y, count] of [
    [322, 3],
    [362, 4],
    [262, 2],
    [296, 2],
    [206, 1],
  ] as const) {
    for (let place = 0; place < count; place += 1) {
      const x = 320 + (place - (count - 1) / 2) * 96;
      canvas.shadow(ellipse([x + 5, y + 30], 46, 24), 14, 0.5);
      canvas.body(ellipse([x, y], 50, 47), skin, { bulge: 48, shade: 0.66, shine: 0.44 });
      for (let flake = 0; flake < 64; flake += 1) {
        const [angle, far] = [random.between(0, Math.PI * 2), Math.sqrt(random.next()) * 0.95];
        const at: Point = [x + Math.cos(angle) * far * 47, y + Math.sin(angle) * far * 44];
        const shaded = mix(dust, DARK, Math.max((at[1] - y) / 47, 0) * 0.4);
        canvas.fill(
          turned(ellipse(at, random.between(2.4, 4.6), 1.4), random.between(0, 180), at),
          shaded,
          0.92,
        );
      }
    }
  }
  return canvas;
}
