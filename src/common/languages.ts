import type { Request } from 'express';

/** Languages of the texts that the service writes for customers, as ISO 639-1 codes: Indonesian and English. */
export const LANGUAGES = ['id', 'en'] as const;
export const UNKNOWN_LANGUAGE = `language should be ${LANGUAGES.join(' or ')}`;
export type Language = (typeof LANGUAGES)[number];

/** Returns the language that `Accept-Language` prefers among `LANGUAGES`; null if the header names none of them. */
export function findPreferredLanguage(request: Request): Language | null {
  // Tags such as `id-ID`, the preferred one first, and `*` for any language.
  const codes = request.acceptsLanguages().map((tag) => tag.split('-')[0]?.toLowerCase());
  return codes.find((code): code is Language => LANGUAGES.some((known) => known === code)) ?? null;
}
