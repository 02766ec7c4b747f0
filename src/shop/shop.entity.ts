import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Language } from '../common/languages.js';

/** Days of the week in the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Opening time and closing time of the same day, `HH:MM`. The closing time may be `24:00`. */
export type OpeningWindow = readonly [from: string, to: string];
export type OpeningHours = Readonly<Record<Weekday, readonly OpeningWindow[]>>;

/** Range of dates on which the shop is closed. `from` and `to` (`YYYY-MM-DD`) belong to the range. */
export interface ClosedRange {
  readonly from: string;
  readonly to: string;
  readonly reason: string | null;
}

/** Id of the only row. */
export const SHOP_ID = 1;

const DEFAULT_NAME = 'Roti Pagi';
const DEFAULT_WINDOWS: readonly OpeningWindow[] = [['07:00', '18:00']];

/**
 * Settings of the shop, named like the fields of the API, so that they need no mapping. The table has one row, or none while
 * `DEFAULT_SHOP` applies.
 */
@Entity('shop')
export class Shop {
  // Columns that version 1.3 added are nullable or have a default, because version 1.2 inserts rows without them.

  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'shop_pkey' })
  id = SHOP_ID;

  @Column('varchar', { length: 100, default: DEFAULT_NAME })
  name = DEFAULT_NAME;

  @Column('varchar', { length: 300, nullable: true })
  address: string | null = null;

  @Column('varchar', { length: 32, nullable: true })
  phone: string | null = null;

  @Column('varchar', { length: 32, nullable: true })
  whatsapp: string | null = null;

  @Column('varchar', { length: 2000, nullable: true })
  website: string | null = null;

  @Column('text', { default: 'en' })
  language: Language = 'en';

  @Column('text')
  time_zone = 'Asia/Jakarta';

  @Column('jsonb')
  hours = Object.fromEntries(WEEKDAYS.map((day) => [day, DEFAULT_WINDOWS])) as OpeningHours;

  @Column('jsonb')
  closed: string[] = [];

  @Column('jsonb', { default: [] })
  closed_ranges: readonly ClosedRange[] = [];

  @Column('smallint')
  lead_minutes = 120;

  @Column('smallint')
  days_ahead = 14;

  @Column('text', { nullable: true })
  cut_off: string | null = null;

  @Column('smallint', { nullable: true })
  slot_minutes: number | null = null;

  @Column('smallint', { nullable: true })
  orders_per_slot: number | null = null;

  @Column('timestamptz', { nullable: true })
  paused_until: Date | null = null;
}
