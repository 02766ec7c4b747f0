/** A place on the picture; y grows downwards. */
export type Point = readonly [x: number, y: number];

/** The rectangle outside of which a shape is not. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A figure by its signed distance: pixels to its edge, negative inside (https://iquilezles.org/articles/distfunctions2d/). */
export interface Shape {
  readonly box: Box;
  distance(x: number, y: number): number;
}

/** An ellipse; its distance is that of a circle scaled, which is close enough near its edge. */
export function ellipse([cx, cy]: Point, rx: number, ry: number): Shape {
  return {
    box: { left: cx - rx, top: cy - ry, right: cx + rx, bottom: cy + ry },
    distance: (x, y) => {
      const [dx, dy] = [(x - cx) / rx, (y - cy) / ry];
      const ratio = length(dx, dy);
      const slope = length(dx / rx, dy / ry);
      return slope === 0 ? -Math.min(rx, ry) : (ratio * (ratio - 1)) / slope;
    },
  };
}

/** A rectangle with round corners. */
export function slab(left: number, top: number, right: number, bottom: number, radius: number): Shape {
  const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
  const [hx, hy] = [(right - left) / 2 - radius, (bottom - top) / 2 - radius];
  return {
    box: { left, top, right, bottom },
    distance: (x, y) => {
      const [dx, dy] = [Math.abs(x - cx) - hx, Math.abs(y - cy) - hy];
      return length(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
    },
  };
}

/** A polygon, its corners in order, made rounder and larger by `radius`. */
export function polygon(corners: readonly Point[], radius = 0): Shape {
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return {
    box: {
      left: Math.min(...xs) - radius,
      top: Math.min(...ys) - radius,
      right: Math.max(...xs) + radius,
      bottom: Math.max(...ys) + radius,
    },
    distance: (x, y) => {
      let nearest = Infinity;
      let inside = false;
      let [px, py] = corners.at(-1) ?? [0, 0];
      for (const [cx, cy] of corners) {
        nearest = Math.min(nearest, toSegment(x, y, [px, py], [cx, cy]));
        if (cy > y !== py > y && x < ((px - cx) * (y - cy)) / (py - cy) + cx) inside = !inside;
        [px, py] = [cx, cy];
      }
      return (inside ? -nearest : nearest) - radius;
    },
  };
}

/** A line of some width with round ends, through points. */
export function stroke(points: readonly Point[], width: number): Shape {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  const half = width / 2;
  return {
    box: {
      left: Math.min(...xs) - half,
      top: Math.min(...ys) - half,
      right: Math.max(...xs) + half,
      bottom: Math.max(...ys) + half,
    },
    distance: (x, y) => {
      let nearest = Infinity;
      for (let end = 1; end < points.length; end += 1) {
        nearest = Math.min(nearest, toSegment(x, y, points[end - 1] ?? [0, 0], points[end] ?? [0, 0]));
      }
      return nearest - half;
    },
  };
}

/** What is in either; `blend` pixels wide, the seam between them is filled. */
export function union(blend: number, ...shapes: readonly [Shape, ...Shape[]]): Shape {
  return {
    box: shapes.map(({ box }) => box).reduce(around),
    distance: (x, y) => {
      let nearest = Infinity;
      for (const shape of shapes) {
        // What is farther than that changes nothing.
        if (toBox(shape.box, x, y) > Math.max(nearest, 0) + blend) continue;
        const distance = shape.distance(x, y);
        const mix = blend === 0 ? 0 : Math.max(blend - Math.abs(nearest - distance), 0) / blend;
        nearest = Math.min(nearest, distance) - (mix * mix * blend) / 4;
      }
      return nearest;
    },
  };
}

/** What is in both. */
export function both(a: Shape, b: Shape): Shape {
  return { box: a.box, distance: (x, y) => Math.max(a.distance(x, y), b.distance(x, y)) };
}

/** What is in the first and not in the second. */
export function without(a: Shape, b: Shape): Shape {
  return { box: a.box, distance: (x, y) => Math.max(a.distance(x, y), -b.distance(x, y)) };
}

/** Turned clockwise about a point, in degrees. */
export function turned(shape: Shape, degrees: number, [cx, cy]: Point): Shape {
  const angle = (degrees * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const { left, top, right, bottom } = shape.box;
  const corners = [
    [left, top],
    [right, top],
    [left, bottom],
    [right, bottom],
  ].map(([x = 0, y = 0]) => [cx + (x - cx) * cos - (y - cy) * sin, cy + (x - cx) * sin + (y - cy) * cos]);
  const xs = corners.map(([x = 0]) => x);
  const ys = corners.map(([, y = 0]) => y);
  return {
    box: { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) },
    distance: (x, y) => {
      const [dx, dy] = [x - cx, y - cy];
      return shape.distance(cx + dx * cos + dy * sin, cy - dx * sin + dy * cos);
    },
  };
}

function around(a: Box, b: Box): Box {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

function toBox({ left, top, right, bottom }: Box, x: number, y: number): number {
  return Math.max(left - x, x - right, top - y, y - bottom);
}

function toSegment(x: number, y: number, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return length(x - ax - along * dx, y - ay - along * dy);
}

/** As `Math.hypot`, which is several times slower because it also takes what would overflow. */
function length(x: number, y: number): number {
  return Math.sqrt(x * x + y * y);
}
