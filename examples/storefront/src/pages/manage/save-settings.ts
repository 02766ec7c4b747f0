import type { Shop, ShopSettings } from '../../api/client';
import { hasCode, LocalizedError } from '../../api/errors';
import { queryClient } from '../../api/query-client';
import { type LoadedSettings, saveShop, shopSettings } from '../../api/shop';
import { LANGUAGE_NAMES, t } from '../../i18n';

/**
 * Saves the settings of a form, and returns the saved settings. If somebody else has changed settings since `base` was loaded,
 * passes the current settings to `onConflict` and throws an error that names the changes. A save that is based on these settings
 * replaces the changes.
 */
export async function saveSettings(
  settings: ShopSettings,
  base: LoadedSettings,
  onConflict: (current: LoadedSettings) => void,
): Promise<LoadedSettings> {
  try {
    return await saveShop(settings, base.etag);
  } catch (error) {
    if (!hasCode(error, 412)) throw error;
    const current = await queryClient.query({ ...shopSettings, staleTime: 0 });
    const changes = listChanges(base.shop, current.shop);
    // The response of an earlier save may have been lost.
    const isSaved = listChanges(settings, current.shop).length === 0;
    if (changes.length > 0 && !isSaved) {
      onConflict(current);
      throw new LocalizedError(() => t('conflict.fields', { fields: changes.join(', ') }));
    }
    // This save replaces no setting of somebody else. A pause of the shop is not part of the form, and is kept.
    return saveShop(settings, current.etag);
  }
}

/** Lists the changed settings by label. Adds the new value of a text or number; lists and null have only the label. */
function listChanges(before: ShopSettings, after: Shop): string[] {
  const labels = {
    hours: t('hours.title'),
    closed: t('closed.label'),
    closed_ranges: t('ranges.label'),
    lead_minutes: t('hours.lead'),
    days_ahead: t('hours.daysAhead'),
    cut_off: t('shop.cutOff'),
    orders_per_slot: t('shop.perSlot'),
    slot_minutes: t('shop.slotMinutes'),
    time_zone: t('hours.timeZone'),
    name: t('shop.name'),
    address: t('shop.address'),
    phone: t('order.phone'),
    whatsapp: t('shop.whatsapp'),
    website: t('shop.website'),
    language: t('shop.language'),
  };
  const shown = { ...after, language: LANGUAGE_NAMES[after.language] };
  const names = Object.keys(labels) as (keyof typeof labels)[];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => (typeof shown[name] === 'object' ? labels[name] : `${labels[name]}: ${shown[name]}`));
}
