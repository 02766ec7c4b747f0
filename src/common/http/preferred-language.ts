import type { Request } from 'express';
import { type Language, LANGUAGES } from '../languages.js';

/** Returns the language that `Accept-Language` prefers among `LANGUAGES`; null if the header names none of them. */
export function findPreferredLanguage(request: Request): Language | null {
  // Tags such as `id-ID`, the preferred one first, and `*` for any language.
  const names = request.acceptsLanguages().map((tag) => tag.split('-')[0]?.toLowerCase());
  return names.map((name) => LANGUAGES.find((language) => language === name)).find(Boolean) ?? null;
}
