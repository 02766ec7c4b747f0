import { ButtonLink } from '../components/button';
import { Notice } from '../components/notice';
import { PageHeading } from '../components/page-heading';
import { t } from '../i18n';

export function NotFoundPage() {
  return (
    <div className="page">
      <PageHeading isVisuallyHidden>{t('missing.title')}</PageHeading>
      <Notice icon="shop" title={t('missing.title')} text={t('missing.text')}>
        <ButtonLink to="/">{t('missing.back')}</ButtonLink>
      </Notice>
    </div>
  );
}
