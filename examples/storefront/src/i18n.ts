import { i18n } from '@lingui/core';
import { useSyncExternalStore } from 'react';
import type { en } from './messages/en';

/** Name of each language in that language. */
export const LANGUAGE_NAMES = { en: 'English', id: 'Bahasa Indonesia' };
export type Language = keyof typeof LANGUAGE_NAMES;

type Messages = typeof en;
export type MessageKey = keyof Messages;

/** Names of the placeholders in a message: `count` for `{count, plural, one {# piece} other {# pieces}}`. */
type Placeholder<Text> = Text extends `${string}{${infer Inside}}${infer Rest}`
  ? NameOf<Inside> | Placeholder<Rest>
  : never;
type NameOf<Inside> = Inside extends `#${string}`
  ? never
  : Inside extends `${infer Name},${string}`
    ? Name
    : Inside;
type Values<Key extends MessageKey> = Record<Placeholder<Messages[Key]>, string | number>;

/** Functions that load the messages of a language. Each language is a separate script, so that a visit loads only one. */
const LOADERS: Record<Language, () => Promise<Record<MessageKey, string>>> = {
  en: async () => (await import('./messages/en')).en,
  id: async () => (await import('./messages/id')).id,
};
const LOCALES: Record<Language, string> = { en: 'en-GB', id: 'id-ID' };

/** Returns a text in the current language. `App` renders all components again when the language changes. */
export function t<Key extends MessageKey>(
  key: Key,
  ...[values]: [Placeholder<Messages[Key]>] extends [never] ? [] : [Values<Key>]
): string {
  return i18n._(key, values);
}

/** Returns the text for a key that was built at run time, or undefined if there is none. */
export function findText(key: string): string | undefined {
  return key in i18n.messages ? i18n._(key) : undefined;
}

let requestedLanguage: Language | undefined;

/**
 * Loads a language and shows the page in it, unless another language is requested while this one is loading.
 * @returns true if the page is shown in this language
 */
export async function loadLanguage(language: Language): Promise<boolean> {
  requestedLanguage = language;
  const messages = await LOADERS[language]();
  if (requestedLanguage !== language) return false;
  i18n.loadAndActivate({ locale: language, messages });
  document.documentElement.lang = language;
  document.querySelector('link[rel=manifest]')?.setAttribute('href', `/manifest-${language}.webmanifest`);
  return true;
}

export function getLanguage(): Language {
  return i18n.locale as Language;
}

/** Locale for dates and times in the current language. */
export function getLocale(): string {
  return LOCALES[getLanguage()];
}

/** Returns the current language, and renders the component again when the language changes. */
export function useLanguage(): Language {
  return useSyncExternalStore((listener) => i18n.on('change', listener), getLanguage);
}
