import { LocalizedError } from '../../api/errors';
import { t } from '../../i18n';

/** Creates the error of a form that somebody else has saved in the meantime. `changes` describes the changed fields. */
export function createConflict(changes: string[]): LocalizedError {
  const fields = changes.join(', ');
  return new LocalizedError(
    fields === '' ? t('api:changed in the meantime') : t('conflict.fields', { fields }),
  );
}
