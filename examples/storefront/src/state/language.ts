import { dataOf } from 'bakery-client';
import { api } from '../api/client';
import { queryClient } from '../api/query-client';
import { shopInfo } from '../api/shop';
import { type Language, LANGUAGE_NAMES, loadLanguage } from '../i18n';
import { useSession } from './session';
import { createSharedStore } from './shared-store';

interface Choice {
  /** Null before the first choice. */
  language: Language | null;
  /** True if a visitor chose the language, so that no account has it yet. */
  isByVisitor: boolean;
}

const useChosenLanguage = createSharedStore<Choice>('bakery.language', {
  language: null,
  isByVisitor: false,
});

// Shows a language that was chosen in another tab. If it cannot be loaded, the next visit tries again.
useChosenLanguage.subscribe(({ language }, before) => {
  if (language !== null && language !== before.language) loadLanguage(language).catch(() => undefined);
});

/**
 * Changes the language in all tabs, of later visits, and of mails to the signed-in person. Changes nothing if the language
 * cannot be loaded, or if another one is chosen while it is loading. Returns true if the language has changed.
 */
export async function chooseLanguage(language: Language) {
  if (!(await loadLanguage(language))) return false;
  const isByVisitor = useSession.getState().user === null;
  useChosenLanguage.setState({ language, isByVisitor });
  if (!isByVisitor) await dataOf(api.PATCH('/api/users', { body: { language } }));
  return true;
}

/**
 * Loads the language of the page: the person's choice, otherwise the first known language of the browser, otherwise that of
 * the shop, otherwise English.
 */
export async function loadFirstLanguage(): Promise<void> {
  const { language } = useChosenLanguage.getState();
  await loadLanguage(language ?? findBrowserLanguage() ?? (await loadShopLanguage()));
}

function findBrowserLanguage(): Language | undefined {
  // The tags look like `id-ID`.
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isKnown);
}

function isKnown(language: string): language is Language {
  return Object.hasOwn(LANGUAGE_NAMES, language);
}

async function loadShopLanguage(): Promise<Language> {
  const shop = await queryClient.query(shopInfo).catch(() => undefined);
  return shop?.language ?? 'en';
}

/** Saves the language that the person chose before the sign-in, for mails. A failure only leaves mails in the earlier language. */
export async function saveLanguageOfVisitor(): Promise<void> {
  const { language, isByVisitor } = useChosenLanguage.getState();
  if (language === null || !isByVisitor) return;
  useChosenLanguage.setState({ isByVisitor: false });
  await api.PATCH('/api/users', { body: { language } }).catch(() => undefined);
}
