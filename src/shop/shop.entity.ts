import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Days of the week in the order of ISO 8601. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Opening time and closing time of the same day, `HH:MM`. The closing time may be `24:00`. */
export type OpeningWindow = readonly [from: string, to: string];
export type OpeningHours = Readonly<Record<Weekday, readonly OpeningWindow[]>>;

/** Opening hours and other settings of the shop. The table has one row, or none while `DEFAULT_SHOP` applies. */
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
};
