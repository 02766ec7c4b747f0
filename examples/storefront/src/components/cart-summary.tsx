import { useQuery } from '@tanstack/react-query';
import { shopInfo } from '../api/shop';
import { formatPrice } from '../format';
import { t } from '../i18n';
import { type CartLine, computeLineTotal, countPieces } from '../state/cart';
import { useSession } from '../state/session';
import { ButtonLink } from './button';
import { CheckoutForm } from './checkout-form';
import { Loaded } from './loaded';

/**
 * Total of the lines that are not sold out, and the form that orders these lines. Visitors get a link to the sign-in instead
 * of the form.
 */
export function CartSummary(props: { lines: (CartLine & { isSoldOut: boolean })[] }) {
  const lines = props.lines.filter(({ isSoldOut }) => !isSoldOut);
  const isSignedIn = useSession(({ user }) => user !== null);
  const shop = useQuery(shopInfo);
  return (
    <section className="panel" aria-label={t('cart.summary')}>
      <p className="sum">
        <span>{t('cart.total', { pieces: t('count.pieces', { count: countPieces(lines) }) })}</span>
        <strong>{formatPrice(lines.reduce((sum, line) => sum + computeLineTotal(line), 0))}</strong>
      </p>
      {isSignedIn ? (
        <Loaded query={shop}>{(data) => <CheckoutForm lines={lines} shop={data} />}</Loaded>
      ) : (
        <>
          <p className="hint">{t('cart.needsAccount')}</p>
          <ButtonLink className="button wide" to="/login?next=/cart">
            {t('cart.signIn')}
          </ButtonLink>
        </>
      )}
    </section>
  );
}
