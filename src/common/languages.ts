/** Languages of the texts that the service writes for customers, as ISO 639-1 codes: Indonesian and English. */
export const LANGUAGES = ['id', 'en'] as const;
export const LANGUAGE_MESSAGE = `language should be ${LANGUAGES.join(' or ')}`;
export type Language = (typeof LANGUAGES)[number];
