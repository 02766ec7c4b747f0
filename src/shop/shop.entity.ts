import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Language } from '../common/languages.js';

/** Days of the week in the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Opening time and closing time of the same day, `HH:MM`. The closing time may be `24:00`. */
export type OpeningWindow = readonly [from: string, to: string];
export type OpeningHours = Readonly<Record<Weekday, readonly OpeningWindow[]>>;

/** Dates on which the shop is closed, `YYYY-MM-DD`. The range includes both dates. */
export interface ClosedRange {
  readonly from: string;
  readonly to: string;
  readonly reason: string | null;
}

export const SHOP_ID = 1;

const DAILY: readonly OpeningWindow[] = [['07:00', '18:00']];

/** Name, opening hours and other settings of the shop. The table has one row, or none while `DEFAULT_SHOP` applies. */
@Entity('shop')
export class Shop {
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'shop_pkey' })
  id = SHOP_ID;

  @Column('text', { name: 'time_zone' })
  timeZone = 'Asia/Jakarta';

  @Column('jsonb')
  hours = Object.fromEntries(WEEKDAYS.map((day) => [day, DAILY])) as OpeningHours;

  @Column('jsonb')
  closed: string[] = [];

  @Column('smallint', { name: 'lead_minutes' })
  leadMinutes = 120;

  @Column('smallint', { name: 'days_ahead' })
  daysAhead = 14;

  @Column('varchar', { length: 100, default: 'Roti Pagi' })
  name = 'Roti Pagi';

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

  @Column('jsonb', { name: 'closed_ranges', default: [] })
  closedRanges: readonly ClosedRange[] = [];

  @Column('text', { name: 'cut_off', nullable: true })
  cutOff: string | null = null;

  @Column('smallint', { name: 'slot_minutes', nullable: true })
  slotMinutes: number | null = null;

  @Column('smallint', { name: 'orders_per_slot', nullable: true })
  ordersPerSlot: number | null = null;

  @Column('timestamptz', { name: 'paused_until', nullable: true })
  pausedUntil: Date | null = null;
}

/** Settings that apply until an administrator changes them. */
export const DEFAULT_SHOP: Readonly<Shop> = new Shop();
