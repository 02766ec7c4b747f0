/** Paths of the icons, in a square of 24 by 24. */
const PATHS = {
  shop: 'M4 10 5.5 4h13L20 10M4 10h16M4 10v9.5h16V10M9.5 19.5v-5h5v5',
  cart: 'M3 4h2.5l2 11h10l2-8H6.5M9 19.5h.01M16 19.5h.01',
  orders: 'M6 3.5h12v17l-3-2-3 2-3-2-3 2zM9 8.5h6M9 12.5h6',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c1-4 4-5.5 7.5-5.5s6.5 1.5 7.5 5.5',
  manage: 'M4 7h9M17 7h3M4 12h3M11 12h9M4 17h9M17 17h3M15 5v4M9 10v4M15 15v4',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7.5V12l3 2',
  cross: 'M6 6l12 12M18 6 6 18',
  offline:
    'M3 3l18 18M5 12.5a10 10 0 0 1 4-2.4M8.5 16a5 5 0 0 1 7 0M2.5 8.5a15 15 0 0 1 4-2.6M11 5.1a15 15 0 0 1 10.5 3.4M15 10.5a10 10 0 0 1 4 2M12 19.5h.01',
  picture: 'M4 5h16v14H4zM4 16l4.5-4.5L13 16l3-3 4 4M15 9.5h.01',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20',
  away: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
};

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
