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

/** Name, opening hours and other settings of the shop. The table has one row, or none while `DEFAULT_SHOP` applies. */
@Entity('shop')
export class Shop {
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'shop_pkey' })
  id!: number;

  @Column('text', { name: 'time_zone' })
  timeZone!: string;

  @Column('jsonb')
  hours!: OpeningHours;

  /** Dates on which the shop is closed, `YYYY-MM-DD`. */
  @Column('jsonb')
  closed!: string[];

  @Column('smallint', { name: 'lead_minutes' })
  leadMinutes!: number;

  @Column('smallint', { name: 'days_ahead' })
  daysAhead!: number;

  @Column('varchar', { length: 100, default: 'Roti Pagi' })
  name!: string;

  @Column('varchar', { length: 300, nullable: true })
  address!: string | null;

  @Column('varchar', { length: 32, nullable: true })
  phone!: string | null;

  @Column('varchar', { length: 32, nullable: true })
  whatsapp!: string | null;

  @Column('varchar', { length: 2000, nullable: true })
  website!: string | null;

  /** Language of customers who have chosen none. */
  @Column('text', { default: 'en' })
  language!: Language;

  @Column('jsonb', { name: 'closed_ranges', default: [] })
  closedRanges!: readonly ClosedRange[];

  /** Time of the day before the pickup, `HH:MM`, from which an order is too late. */
  @Column('text', { name: 'cut_off', nullable: true })
  cutOff!: string | null;

  /** Length of the slots in which orders are counted. Without `ordersPerSlot`, nothing is counted. */
  @Column('smallint', { name: 'slot_minutes', nullable: true })
  slotMinutes!: number | null;

  @Column('smallint', { name: 'orders_per_slot', nullable: true })
  ordersPerSlot!: number | null;

  /** The shop takes no orders until this time. */
  @Column('timestamptz', { name: 'paused_until', nullable: true })
  pausedUntil!: Date | null;
}

export const SHOP_ID = 1;

const DAILY: readonly OpeningWindow[] = [['07:00', '18:00']];

/** Settings that apply until an administrator changes them. */
export const DEFAULT_SHOP: Readonly<Shop> = {
  id: SHOP_ID,
  timeZone: 'Asia/Jakarta',
  hours: Object.fromEntries(WEEKDAYS.map((day) => [day, DAILY])) as OpeningHours,
  closed: [],
  leadMinutes: 120,
  daysAhead: 14,
  name: 'Roti Pagi',
  address: null,
  phone: null,
  whatsapp: null,
  website: null,
  language: 'en',
  closedRanges: [],
  cutOff: null,
  slotMinutes: null,
  ordersPerSlot: null,
  pausedUntil: null,
};
