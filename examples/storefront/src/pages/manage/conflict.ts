import { LocalizedError } from '../../api/errors';
import { t } from '../../i18n';

/** Creates the error of a form that somebody else has saved in the meantime. `changes` describes the changed fields. */
export function createConflict(changes: string[]): LocalizedError {
  return new LocalizedError(t('conflict.fields', { fields: changes.join(', ') }));
}
