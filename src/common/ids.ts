import { Injectable, type PipeTransform } from '@nestjs/common';

const MAX_ID = 2_147_483_647;

/** Returns true for a possible id. PostgreSQL rejects a parameter above MAX_ID with an error. */
export function isId(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_ID;
}

/**
 * Parses the id of a product in a path. A text that is not an id becomes 0, which is the id of no product. The pipe does not
 * throw a 404 itself, because invalid fields (400) are reported before an unknown product (404).
 */
@Injectable()
export class ProductIdPipe implements PipeTransform<string, number> {
  transform(text: string): number {
    return /^[1-9]\d{0,9}$/.test(text) && isId(Number(text)) ? Number(text) : 0;
  }
}

/** Parses the id after which a page begins: rounded down, at least 0, at most MAX_ID; null if the text is not a number. */
export function parseLastId(text: unknown): number | null {
  if (typeof text !== 'string' || !/^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim())) return null;
  return Math.floor(Math.min(Math.max(Number(text), 0), MAX_ID));
}
