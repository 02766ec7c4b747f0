import type { Shape } from './shapes.js';

/** Red, green and blue, 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** `#e8c9a0` as a colour. */
export function colour(hex: string): Colour {
  const number = Number.parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

/** A colour between two; 0 is the first. */
export function mix(a: Colour, b: Colour, share: number): Colour {
  const part = Math.min(Math.max(share, 0), 1);
  return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
}

/** How something rounded catches the light, which comes from the upper left. */
export interface Roundness {
  /** Pixels from the edge to where the surface faces us; 0 for something flat. */
  readonly bulge: number;
  /** How dark its far side is, 0 to 1. */
  readonly shade?: number;
  /** How bright its near side is, 0 to 1. */
  readonly shine?: number;
}

const SHADE: Colour = [58, 26, 8];
const SHINE: Colour = [255, 246, 226];

/** A picture to paint shapes on, 8 bits a channel, their edges smoothed. */
export class Canvas {
  /** Rows of red, green, blue. */
  readonly pixels: Uint8Array;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.pixels = new Uint8Array(width * height * 3);
  }

  /** Covers everything, from one colour at the top to another at the bottom. */
  backdrop(top: Colour, bottom: Colour): void {
    for (let y = 0; y < this.height; y += 1) {
      const at = mix(top, bottom, y / this.height);
      for (let x = 0; x < this.width; x += 1) this.#blend(x, y, at, 1);
    }
  }

  /** Paints a shape in one colour. */
  fill(shape: Shape, paint: Colour, opacity = 1): void {
    this.#paint(shape, 1, (x, y, distance) => {
      this.#blend(x, y, paint, opacity * coverage(distance));
    });
  }

  /** Paints a shape as a body with a lit and a shaded side. */
  body(shape: Shape, paint: Colour, { bulge, shade = 0.45, shine = 0.3 }: Roundness): void {
    this.#paint(shape, 1, (x, y, distance) => {
      const depth = bulge === 0 ? 1 : Math.min(Math.max(-distance / bulge, 0), 1);
      const tilt = 1 - depth * (2 - depth);
      const [dx, dy] = tilt === 0 ? [0, 0] : gradient(shape, x, y);
      const light = tilt * (-dx * 0.5 - dy * 0.87);
      const lit = light > 0 ? mix(paint, SHINE, light * shine) : mix(paint, SHADE, -light * shade);
      this.#blend(x, y, mix(lit, SHADE, tilt ** 3 * shade * 0.35), coverage(distance));
    });
  }

  /** Darkens what lies under a shape, softly. @param blur pixels from full to none */
  shadow(shape: Shape, blur: number, opacity: number): void {
    this.#paint(shape, blur, (x, y, distance) => {
      const share = Math.min(Math.max(0.5 - distance / (2 * blur), 0), 1);
      this.#blend(x, y, SHADE, opacity * share * share * (3 - 2 * share));
    });
  }

  #paint(shape: Shape, margin: number, at: (x: number, y: number, distance: number) => void): void {
    const { left, top, right, bottom } = shape.box;
    const [endX, endY] = [Math.min(right + margin, this.width), Math.min(bottom + margin, this.height)];
    for (let y = Math.max(Math.floor(top - margin), 0); y < endY; y += 1) {
      for (let x = Math.max(Math.floor(left - margin), 0); x < endX; x += 1) {
        const distance = shape.distance(x + 0.5, y + 0.5);
        if (distance < margin) at(x, y, distance);
      }
    }
  }

  #blend(x: number, y: number, paint: Colour, share: number): void {
    if (share <= 0) return;
    const offset = (y * this.width + x) * 3;
    for (let channel = 0; channel < 3; channel += 1) {
      const old = this.pixels[offset + channel] ?? 0;
      this.pixels[offset + channel] = Math.round(old + ((paint[channel] ?? 0) - old) * share);
    }
  }
}

function coverage(distance: number): number {
  return Math.min(Math.max(0.5 - distance, 0), 1);
}

/** The direction in which a shape's edge is left. */
function gradient(shape: Shape, x: number, y: number): readonly [number, number] {
  const dx = shape.distance(x + 1.5, y + 0.5) - shape.distance(x - 0.5, y + 0.5);
  const dy = shape.distance(x + 0.5, y + 1.5) - shape.distance(x + 0.5, y - 0.5);
  const length = Math.sqrt(dx * dx + dy * dy) || 1;
  return [dx / length, dy / length];
}
