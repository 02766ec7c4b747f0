import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { isString, ValidateBy } from 'class-validator';
import { isExistingDate } from '../common/calendar.js';
import { STORABLE } from '../common/validation/text.decorator.js';
import type { ClosedRange } from './shop.entity.js';

const MAX_RANGES = 50;
const MAX_REASON_LENGTH = 100;
const MESSAGE =
  `closed_ranges should be a list of at most ${MAX_RANGES} ranges {from, to, reason}, with dates from ≤ to ` +
  `and a reason of at most ${MAX_REASON_LENGTH} characters or null`;

/**
 * Validates a list of ranges of dates on which the shop is closed. Accepts a range without a reason, unlike the schema. One
 * message covers all ranges.
 */
export function IsClosedRanges(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: 'array',
      maxItems: MAX_RANGES,
      items: {
        type: 'object',
        properties: {
          from: { type: 'string', format: 'date' },
          to: { type: 'string', format: 'date' },
          reason: { type: 'string', nullable: true, maxLength: MAX_REASON_LENGTH },
        },
        required: ['from', 'to', 'reason'],
      },
      example: [{ from: '2027-03-09', to: '2027-03-12', reason: 'Lebaran' }],
    }),
    ValidateBy({ name: 'isClosedRanges', validator: { validate: areClosedRanges } }, { message: MESSAGE }),
  );
}

/** Keeps the known fields of each range, and sorts the ranges. */
export function normalizeRanges(ranges: readonly ClosedRange[]): ClosedRange[] {
  return ranges
    .map(({ from, to, reason }) => ({ from, to, reason: (reason ?? '').trim() || null }))
    .sort((a, b) => toSortKey(a).localeCompare(toSortKey(b)));
}

function toSortKey({ from, to, reason }: ClosedRange): string {
  return `${from} ${to} ${reason ?? ''}`;
}

function areClosedRanges(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_RANGES && value.every(isClosedRange);
}

function isClosedRange(value: unknown): boolean {
  const { from, to, reason } = (value ?? {}) as Record<string, unknown>;
  const text = reason ?? '';
  const isReason =
    isString(text) && Array.from(text.trim()).length <= MAX_REASON_LENGTH && STORABLE.test(text);
  return isExistingDate(from) && isExistingDate(to) && from <= to && isReason;
}
