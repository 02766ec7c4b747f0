import type { Shop } from '../../api/client';
import { useFreshQuery } from '../../api/query-client';
import { saveShop, shopInfo } from '../../api/shop';
import { Field, Form } from '../../components/form';
import { Loaded } from '../../components/page';
import { toast } from '../../state/toast';
import { addDate, ClosedDates } from './closed-dates';
import { HoursField } from './hours-field';
import { ManagePage } from './manage-page';

/** Page for the settings of the shop: opening hours, closed dates, pickup and time zone. */
export default function ShopPage() {
  return (
    <ManagePage title="Opening hours">
      <Loaded query={useFreshQuery(shopInfo)}>{(shop) => <ShopForm shop={shop} />}</Loaded>
    </ManagePage>
  );
}

function ShopForm({ shop }: { shop: Shop }) {
  const { hours, closed, lead_minutes, days_ahead, time_zone } = shop;
  const defaultValues = {
    hours,
    closed,
    newClosedDate: '',
    lead_minutes: String(lead_minutes),
    days_ahead: String(days_ahead),
    time_zone,
  };
  type Values = typeof defaultValues;
  const save = async ({ newClosedDate, ...values }: Values, reset: (values: Values) => void) => {
    // Also save a date that was chosen without pressing "Add date".
    const dates = addDate(values.closed, newClosedDate);
    await saveShop({
      ...values,
      closed: dates,
      lead_minutes: toNumber(values.lead_minutes),
      days_ahead: toNumber(values.days_ahead),
    });
    if (newClosedDate !== '') reset({ ...values, closed: dates, newClosedDate: '' });
    toast('The opening hours are saved.');
  };
  return (
    <section className="panel">
      <Form submit="Save" defaultValues={defaultValues} onSubmit={save}>
        <HoursField />
        <ClosedDates />
        <Field
          name="lead_minutes"
          label="Minutes between an order and its pickup"
          inputMode="numeric"
          hint="The time that you need at least."
        />
        <Field
          name="days_ahead"
          label="Days in advance"
          inputMode="numeric"
          hint="Customers can choose a pickup up to this many days after today."
        />
        <Field name="time_zone" label="Time zone" hint="For example Asia/Jakarta" />
      </Form>
    </section>
  );
}

/** Converts the text of a number field. An empty text becomes NaN, which JSON sends as null, so the service rejects it. */
function toNumber(text: string) {
  return text.trim() === '' ? NaN : Number(text);
}
