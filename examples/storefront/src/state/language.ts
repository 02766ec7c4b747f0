import { dataOf } from 'bakery-client';
import { api } from '../api/client';
import { queryClient } from '../api/query-client';
import { shopInfo } from '../api/shop';
import { getLanguage, type Language, LANGUAGES, loadLanguage } from '../i18n';
import { useSession } from './session';
import { createSharedStore } from './shared-store';

/** Language that the person has chosen with the switch, null before the first choice. */
const useChosenLanguage = createSharedStore<{ language: Language | null }>('bakery.language', {
  language: null,
});

useChosenLanguage.subscribe(({ language }, before) => {
  if (language !== null && language !== before.language) void loadLanguage(language);
});

/** Changes the language in all tabs, of later visits, and of mails to the signed-in person. */
export async function chooseLanguage(language: Language) {
  useChosenLanguage.setState({ language });
  if (useSession.getState().person !== null) await dataOf(api.PATCH('/api/users', { body: { language } }));
}

/** Loads the first known language of: the person's choice, the browser's languages, the shop's language, English. */
export async function loadFirstLanguage(): Promise<void> {
  const { language } = useChosenLanguage.getState();
  const first = language ?? findBrowserLanguage() ?? (await loadShopLanguage());
  if (getLanguage() !== first) await loadLanguage(first);
}

function findBrowserLanguage(): Language | undefined {
  // The tags look like `id-ID`.
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isKnown);
}

function isKnown(language: string): language is Language {
  return LANGUAGES.some((known) => known === language);
}

async function loadShopLanguage(): Promise<Language> {
  const shop = await queryClient.query(shopInfo).catch(() => undefined);
  return shop?.language ?? 'en';
}
