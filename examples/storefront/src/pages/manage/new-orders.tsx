import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { newestPaidOrders } from '../../api/orders';
import { Button } from '../../components/button';
import { t } from '../../i18n';
import { showToast } from '../../state/toast';
import { allowSound, beep, isSoundAllowed, onSoundChange } from './sound';

/** Announces orders that were paid since the last poll on every page for administrators: with a message, a number in the tab's title and a sound. */
export function NewOrderAlerts() {
  const { data } = useQuery(newestPaidOrders);
  const known = useRef<Set<string>>(undefined);
  const unseen = useRef(0);
  useEffect(() => {
    if (data === undefined) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...data]);
    const arrived = before === undefined ? 0 : data.filter((id) => !before.has(id)).length;
    if (arrived === 0) return;
    unseen.current += arrived;
    document.title = `(${unseen.current}) ${document.title.replace(/^\(\d+\) /, '')}`;
    showToast(t('manage.newOrders', { count: arrived }));
    beep();
  }, [data]);
  if (useSyncExternalStore(onSoundChange, isSoundAllowed)) return null;
  return (
    <Button className="link" onClick={() => void allowSound()}>
      {t('sound.allow')}
    </Button>
  );
}
