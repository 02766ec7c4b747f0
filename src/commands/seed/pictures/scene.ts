import { Canvas, type Colour, colour, mix } from './canvas.js';
import { ellipse, type Point, type Shape } from './shapes.js';

export const WIDTH = 640;
export const HEIGHT = 480;
/** Where things stand on the table. */
export const TABLE_Y = 372;

/** Colours of a wall, a table and what is served on. */
export interface Mood {
  readonly wall: readonly [Colour, Colour];
  readonly table: Colour;
  readonly plate: Colour;
}

function mood(wallTop: string, wallBottom: string, table: string, plate: string): Mood {
  return {
    wall: [colour(wallTop), colour(wallBottom)],
    table: colour(table),
    plate: colour(plate),
  };
}

export const MOODS = {
  cream: mood('#fdf3e1', '#f6dfbd', '#d9a873', '#fffaf0'),
  rose: mood('#fdeae3', '#f5cdbd', '#c98f75', '#fff5ef'),
  sage: mood('#f1f2dd', '#dfe0b8', '#b99a68', '#fcfbee'),
  honey: mood('#fff0cc', '#fbd68a', '#b9783f', '#fff8e6'),
  dusk: mood('#f3ddd0', '#d9a98e', '#8c5a41', '#fbeee4'),
} as const;

/** A wall and a table in soft light. */
export function scene({ wall, table }: Mood): Canvas {
  const canvas = new Canvas(WIDTH, HEIGHT);
  canvas.backdrop(wall[0], wall[1]);
  canvas.fill(ellipse([200, 110], 330, 190), colour('#ffffff'), 0.16);
  canvas.fill(ellipse([180, 90], 190, 110), colour('#ffffff'), 0.16);
  canvas.fill(ellipse([320, 760], 860, 460), mix(table, colour('#ffffff'), 0.12));
  canvas.fill(ellipse([320, 800], 880, 470), table);
  return canvas;
}

/** A plate seen from a little above. */
export function plate(canvas: Canvas, { plate: china }: Mood, [x, y]: Point, radius: number): void {
  const height = radius * 0.27;
  canvas.shadow(ellipse([x + 10, y + 20], radius, height), 26, 0.42);
  canvas.body(ellipse([x, y], radius, height), china, { bulge: 12, shade: 0.3, shine: 0.5 });
  canvas.fill(ellipse([x, y + 1], radius * 0.76, height * 0.72), mix(china, colour('#8a5a3a'), 0.14));
  canvas.fill(ellipse([x, y + 4], radius * 0.755, height * 0.7), mix(china, colour('#8a5a3a'), 0.04));
}

/** The shadow of something that stands at a point. */
export function contact(
  canvas: Canvas,
  [x, y]: Point,
  halfWidth: number,
  halfHeight = halfWidth * 0.16,
): void {
  canvas.shadow(ellipse([x + 8, y], halfWidth, halfHeight), 22, 0.5);
}

/** A body with its own shadow below it. */
export function resting(
  canvas: Canvas,
  shape: Shape,
  paint: Colour,
  roundness: Parameters<Canvas['body']>[2],
): void {
  const { left, right, bottom } = shape.box;
  contact(canvas, [(left + right) / 2, bottom - 6], ((right - left) / 2) * 0.96);
  canvas.body(shape, paint, roundness);
}
