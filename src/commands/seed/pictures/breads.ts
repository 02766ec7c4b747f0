import type { Random } from '../random.js';
import { type Canvas, type Colour, colour, mix } from './canvas.js';
import { contact, type Mood, resting, scene, TABLE_Y } from './scene.js';
import { both, ellipse, type Point, polygon, slab, stroke, turned, union } from './shapes.js';

const DUSTING = colour('#fff6e4');
const DARK = colour('#4a230d');

/** A tin loaf with its dome, and slices leaning in front of it. */
export function tinLoaf(mood: Mood, crust: Colour, crumb: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  const board = slab(70, TABLE_Y - 4, 570, TABLE_Y + 36, 14);
  resting(canvas, board, mix(mood.table, DARK, 0.35), { bulge: 9, shade: 0.3 });
  const dome = union(
    34,
    slab(130, 220, 470, TABLE_Y + 4, 20),
    ellipse([205, 218], 84, 60),
    ellipse([300, 206], 88, 66),
    ellipse([395, 218], 84, 60),
  );
  resting(canvas, dome, crust, { bulge: 70, shade: 0.6, shine: 0.42 });
  for (const x of [250, 350])
    canvas.fill(
      stroke(
        [
          [x, 196],
          [x - 4, 262],
        ],
        5,
      ),
      mix(crust, DARK, 0.45),
      0.4,
    );
  for (const [x, lean] of [
    [456, 8],
    [508, 14],
  ] as const) {
    const slice = turned(
      union(
        14,
        slab(x - 58, 268, x + 58, TABLE_Y + 22, 14),
        ellipse([x - 26, 270], 38, 30),
        ellipse([x + 26, 270], 38, 30),
      ),
      lean,
      [x, TABLE_Y],
    );
    contact(canvas, [x + 4, TABLE_Y + 24], 60);
    canvas.body(slice, crust, { bulge: 10, shade: 0.5 });
    const inner = turned(
      union(
        14,
        slab(x - 49, 278, x + 49, TABLE_Y + 13, 10),
        ellipse([x - 24, 274], 30, 23),
        ellipse([x + 24, 274], 30, 23),
      ),
      lean,
      [x, TABLE_Y],
    );
    canvas.body(inner, crumb, { bulge: 22, shade: 0.12, shine: 0.2 });
    for (let pore = 0; pore < 26; pore += 1) {
      const at: Point = [x + random.between(-38, 44), random.between(280, TABLE_Y)];
      const size = random.between(1.5, 4.2);
      canvas.fill(ellipse(at, size * 1.3, size), mix(crumb, crust, 0.42), 0.6);
    }
  }
  return canvas;
}

/** A round hearth loaf, scored as an ear of wheat and dusted with flour. */
export function hearthLoaf(mood: Mood, crust: Colour, crumb: Colour, random: Random): Canvas {
  const canvas = scene(mood);
  resting(canvas, slab(60, TABLE_Y + 6, 580, TABLE_Y + 42, 14), mix(mood.table, DARK, 0.3), {
    bulge: 9,
    shade: 0.3,
  });
  const loaf = both(ellipse([320, 286], 206, 122), slab(90, 120, 550, TABLE_Y + 16, 44));
  resting(canvas, loaf, crust, { bulge: 118, shade: 0.68, shine: 0.32 });
  const ear: Point[] = [
    [186, 316],
    [236, 262],
    [320, 232],
    [404, 232],
    [456, 254],
  ];
  canvas.fill(stroke(ear, 30), mix(crust, DARK, 0.4), 0.55);
  canvas.body(
    stroke(
      ear.map(([x, y]): Point => [x + 2, y + 5]),
      20,
    ),
    mix(crumb, crust, 0.35),
    { bulge: 9, shade: 0.3 },
  );
  for (let leaf = 0; leaf < 6; leaf += 1) {
    const [x, y] = [222 + leaf * 38, 312 - leaf * 9];
    canvas.fill(turned(ellipse([x, y], 21, 4.5), -32, [x, y]), mix(crumb, crust, 0.25), 0.85);
    canvas.fill(
      turned(ellipse([x + 26, y - 92 + leaf * 4], 17, 3.6), 34, [x + 26, y - 92 + leaf * 4]),
      mix(crumb, crust, 0.25),
      0.6,
    );
  }
  for (let grain = 0; grain < 170; grain += 1) {
    const [angle, far] = [random.between(0, Math.PI * 2), Math.sqrt(random.next())];
    const at: Point = [320 + Math.cos(angle) * far * 172, 268 + Math.sin(angle) * far * 84];
    canvas.fill(ellipse(at, random.between(1, 3), random.between(0.8, 1.8)), DUSTING, 0.55);
  }
  return canvas;
}

/** Three sticks across each other on a cloth. */
export function baguettes(mood: Mood, crust: Colour, crumb: Colour): Canvas {
  const canvas = scene(mood);
  const cloth = polygon(
    [
      [96, 356],
      [548, 330],
      [590, 424],
      [70, 440],
    ],
    10,
  );
  canvas.shadow(
    polygon(
      [
        [100, 372],
        [552, 346],
        [592, 432],
        [76, 450],
      ],
      10,
    ),
    22,
    0.3,
  );
  canvas.body(cloth, mood.plate, { bulge: 8, shade: 0.2 });
  for (let stripe = 0; stripe < 4; stripe += 1) {
    const y = 352 + stripe * 22;
    canvas.fill(
      stroke(
        [
          [86, y + 6],
          [572, y - 20],
        ],
        3,
      ),
      crust,
      0.35,
    );
  }
  const sticks: readonly (readonly [Point, Point])[] = [
    [
      [118, 300],
      [520, 262],
    ],
    [
      [104, 392],
      [500, 230],
    ],
    [
      [150, 402],
      [556, 330],
    ],
  ];
  for (const [from, to] of sticks) {
    canvas.shadow(
      stroke(
        [
          [from[0] + 12, from[1] + 24],
          [to[0] + 12, to[1] + 24],
        ],
        64,
      ),
      18,
      0.5,
    );
    canvas.body(stroke([from, to], 68), crust, { bulge: 34, shade: 0.62, shine: 0.34 });
    const tilt = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI;
    for (let cut = 0; cut < 5; cut += 1) {
      const share = 0.12 + cut * 0.19;
      const at: Point = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share - 4];
      canvas.fill(turned(ellipse(at, 38, 11), tilt + 24, at), mix(crust, DARK, 0.35), 0.6);
      canvas.body(turned(ellipse([at[0], at[1] + 2], 34, 8), tilt + 24, at), mix(crumb, crust, 0.22), {
        bulge: 6,
        shade: 0.25,
      });
    }
  }
  return canvas;
}
