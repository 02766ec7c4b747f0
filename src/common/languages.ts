/** Languages of mails (ISO 639-1): Indonesian and English. */
export const LANGUAGES = ['id', 'en'] as const;
export const UNKNOWN_LANGUAGE = `language should be ${LANGUAGES.join(' or ')}`;
export type Language = (typeof LANGUAGES)[number];
