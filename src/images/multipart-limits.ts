import type { Options } from 'multer';

const KIB = 1024;

/** Limits of one form (decisions.md, Answers), counted by the parser. */
export const FORM_LIMITS = {
  fileSize: 5 * KIB * KIB,
  /** A description of 10,000 characters has 30,000 bytes at most. */
  fieldSize: 64 * KIB,
  fieldNameSize: KIB,
  fields: 200,
  files: 50,
  parts: 250,
  headerPairs: 20,
  fieldNestingDepth: 10,
  fieldArrayIndexLimit: 1000,
} as const satisfies Options['limits'];

/** Most bytes of all field names and values together: many requests at once keep them in memory. */
export const MAX_TEXT_BYTES = 256 * KIB;

/**
 * Most bytes of a form: twice what five of the largest files need, so that somebody who sends a few too many is told
 * how many are allowed.
 */
export const MAX_FORM_BYTES = 64 * KIB * KIB;
