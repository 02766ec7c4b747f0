import { svg } from '../dom.js';

const PATHS = {
  shop: 'M4 10 5.500 4h13L20 10M4 10h16M4 10v9.500h16V10M9.500 19.500v-5h5v5',
  cart: 'M3 4h2.500l2 11h10l2-8H6.500M9 19.500h.01M16 19.500h.01',
  orders: 'M6 3.500h12v17l-3-2-3 2-3-2-3 2zM9 8.500h6M9 12.500h6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.500 20.500c1-4 4-5.500 7.500-5.500s6.500 1.500 7.500 5.500',
  manage: 'M4 7h9M17 7h3M4 12h3M11 12h9M4 17h9M17 17h3M15 5v4M9 10v4M15 15v4',
  check: 'm5 12.500 4.500 4.500L19 7.500',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7.500V12l3 2',
  cross: 'M6 6l12 12M18 6 6 18',
  offline:
    'M3 3l18 18M5 12.500a10 10 0 0 1 4-2.400M8.500 16a5 5 0 0 1 7 0M2.500 8.500a15 15 0 0 1 4-2.600M11 5.100a15 15 0 0 1 10.500 3.400M15 10.500a10 10 0 0 1 4 2M12 19.500h.01',
  picture: 'M4 5h16v14H4zM4 16l4.500-4.500L13 16l3-3 4 4M15 9.500h.01',
  away: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing beside a text that says the same. */
export function icon(name: IconName): SVGElement {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    svg('path', { d: PATHS[name] }),
  );
}
