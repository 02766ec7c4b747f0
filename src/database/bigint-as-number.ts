import type { ValueTransformer } from 'typeorm';

/**
 * Reads a bigint column as a number: the driver returns text. Only for amounts in rupiah. `OrderPlacementService` rejects a
 * total above 2^53.
 */
export const bigintAsNumber: ValueTransformer = {
  from: (text: string | null | undefined) => text && Number(text),
  to: (value: unknown) => value,
};
