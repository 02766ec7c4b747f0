import { BakeryFailure } from 'bakery-client';
import { t } from '../../i18n';

/** Creates the failure of a form that somebody else has saved in the meantime. `changes` describes the changed fields. */
export function createConflict(changes: string[]): BakeryFailure {
  const fields = changes.join(', ');
  return new BakeryFailure(412, fields === '' ? 'changed in the meantime' : t('shop.changed', { fields }));
}
