import { useShopName } from '../api/shop';
import { ButtonLink } from '../components/button';
import { PageHeading } from '../components/page-heading';
import { ProductImage } from '../components/product-image';
import { t } from '../i18n';

/** Names for which `ProductImage` shows different drawings. */
const DRAWN_PRODUCTS = ['Croissant', 'Roti', 'Kue lapis', 'Donat'];

/** Start page for visitors who are not signed in, if the catalog is only for customers with an account. */
export function WelcomePage() {
  return (
    <div className="welcome">
      <div>
        <p className="eyebrow">{useShopName()}</p>
        <PageHeading>{t('welcome.title')}</PageHeading>
        <p className="lead">{t('welcome.lead')}</p>
        <div className="actions">
          <ButtonLink to="/register">{t('account.create')}</ButtonLink>
          <ButtonLink className="button quiet" to="/login">
            {t('account.signIn')}
          </ButtonLink>
        </div>
      </div>
      <div className="welcome-images" aria-hidden="true">
        {DRAWN_PRODUCTS.map((name) => (
          <ProductImage key={name} product={{ name }} />
        ))}
      </div>
    </div>
  );
}
