import type { ValueTransformer } from 'typeorm';

/** Reads a bigint column as a number. For amounts in whole rupiah, which are below 2^53. The driver would return text. */
export const bigintAsNumber: ValueTransformer = {
  from: (text: string | null | undefined) => text && Number(text),
  to: (value: unknown) => value,
};
