import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type LoadedSettings, shopSettings } from '../../api/shop';
import { Form, type FormControl, FormField, FormTextArea, SelectField } from '../../components/form';
import { Loaded } from '../../components/loaded';
import { LANGUAGE_NAMES, t } from '../../i18n';
import { showToast } from '../../state/toast';
import { ClosedDates } from './closed-dates';
import { ClosedRanges } from './closed-ranges';
import { HoursField } from './hours-field';
import { LeaveQuestion } from './leave-question';
import { ManagePage } from './manage-page';
import { PaidOrdersNote } from './paid-orders-note';
import { saveSettings } from './save-settings';
import {
  assertLimitIsComplete,
  pickChanged,
  type ShopFormValues,
  toFormValues,
  toSettings,
} from './shop-values';

/** Page for the settings of the shop: opening hours, closed dates, pickup, contact and time zone. */
export default function ShopPage() {
  return (
    <ManagePage title={t('hours.title')}>
      <Loaded query={useQuery(shopSettings)}>{(data) => <ShopForm {...data} />}</Loaded>
    </ManagePage>
  );
}

function ShopForm(loaded: LoadedSettings) {
  // Settings that the form is based on. After a conflict, these are the settings that somebody else has saved.
  const [base, setBase] = useState(loaded);
  const save = async (typed: ShopFormValues, { getValues, reset }: FormControl<ShopFormValues>) => {
    assertLimitIsComplete(typed);
    const saved = await saveSettings(toSettings(typed), base, setBase);
    setBase(saved);
    const values = toFormValues(saved.shop);
    const typedLater = pickChanged(typed, getValues());
    reset(values);
    // Keep what was typed while the settings were being saved. It is not saved yet.
    reset({ ...values, ...typedLater }, { keepDefaultValues: true });
    showToast(t('shop.saved'));
  };
  return (
    <section className="panel">
      <Form submitLabel={t('save')} defaultValues={toFormValues(loaded.shop)} onSubmit={save}>
        <LeaveQuestion />
        <HoursField />
        <ClosedDates />
        <ClosedRanges />
        <PaidOrdersNote />
        <FormField
          name="lead_minutes"
          label={t('hours.lead')}
          inputMode="numeric"
          hint={t('hours.leadHint')}
        />
        <FormField
          name="days_ahead"
          label={t('hours.daysAhead')}
          inputMode="numeric"
          hint={t('hours.daysAheadHint')}
        />
        <FormField name="cut_off" label={t('shop.cutOff')} inputMode="numeric" hint={t('shop.cutOffHint')} />
        <FormField
          name="orders_per_slot"
          label={t('shop.perSlot')}
          inputMode="numeric"
          hint={t('shop.perSlotHint')}
        />
        <SelectField
          name="slot_minutes"
          label={t('shop.slotMinutes')}
          options={[
            ['', t('shop.noLimit')],
            ...[15, 30, 60].map((count) => [String(count), t('shop.minutes', { count })] as const),
          ]}
        />
        <FormField name="time_zone" label={t('hours.timeZone')} hint={t('hours.timeZoneHint')} />
        <FormField name="name" label={t('shop.name')} />
        <FormTextArea name="address" label={t('shop.address')} />
        <FormField name="phone" label={t('order.phone')} type="tel" />
        <FormField name="whatsapp" label={t('shop.whatsapp')} type="tel" />
        <FormField name="website" label={t('shop.website')} type="url" />
        <SelectField
          name="language"
          label={t('shop.language')}
          hint={t('shop.languageHint')}
          options={Object.entries(LANGUAGE_NAMES)}
        />
      </Form>
    </section>
  );
}
