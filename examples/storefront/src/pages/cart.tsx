import { useMutation, useQueries } from '@tanstack/react-query';
import { Link, useNavigate } from 'react-router';
import { placeOrder } from '../api/checkout';
import { explain } from '../api/errors';
import { productDetail } from '../api/products';
import { Button, ButtonLink } from '../components/button';
import { Alert, Notice, PageHeading } from '../components/page';
import { Picture } from '../components/picture';
import { QuantityPicker } from '../components/quantity-picker';
import { count, formatPrice } from '../format';
import { type CartLine, clearCart, piecesIn, removeFromCart, setQuantity, useCart } from '../state/cart';
import { toast } from '../state/toast';

export function CartPage() {
  const lines = useCheckedLines();
  return (
    <div className="page">
      <PageHeading>Your cart</PageHeading>
      {lines.length === 0 ? (
        <Notice icon="cart" title="Nothing in it yet" text="Pick something that smells good.">
          <ButtonLink to="/">See what we bake</ButtonLink>
        </Notice>
      ) : (
        <div className="cart">
          <ul className="lines" aria-label="Products in your cart">
            {lines.map((line) => (
              <Line key={line.id} line={line} />
            ))}
          </ul>
          <Summary lines={lines.filter(({ isGone }) => !isGone)} />
        </div>
      )}
    </div>
  );
}

type CheckedLine = ReturnType<typeof useCheckedLines>[number];

/** The cart with what the catalog says of its products now. Their `oldPrice` is that of when they were put into it. */
function useCheckedLines() {
  const lines = useCart();
  const answers = useQueries({ queries: lines.map(({ id }) => productDetail(id)) });
  return lines.map((line, index) => {
    const product = answers[index]?.data;
    const { name, price } = product ?? line;
    return { ...line, name, price, isGone: product === null, oldPrice: line.price };
  });
}

function Line({ line }: { line: CheckedLine }) {
  const { id, name, price, oldPrice, isGone } = line;
  const remove = () => {
    removeFromCart(id);
    toast(`${name} is no longer in your cart.`);
  };
  return (
    <li className="line">
      <Picture product={line} src={line.images?.[0]} />
      <div className="line-text">
        <Link to={`/products/${id}`}>{name}</Link>
        {isGone ? (
          <p className="complaint">We do not bake this any more. It is left out of your order.</p>
        ) : (
          <p className="hint">
            {formatPrice(price)} each{price !== oldPrice && `, before ${formatPrice(oldPrice)}`}
          </p>
        )}
      </div>
      {!isGone && (
        <>
          <QuantityPicker name={name} value={line.quantity} onChange={(value) => setQuantity(id, value)} />
          <p className="price">{formatPrice(sumOf(line))}</p>
        </>
      )}
      <Button className="link" aria-label={`Remove ${name}`} onClick={remove}>
        Remove
      </Button>
    </li>
  );
}

/** @param lines what can be ordered */
function Summary({ lines }: { lines: CheckedLine[] }) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => placeOrder(lines.map(({ id, quantity }) => ({ product_id: id, quantity }))),
    onSuccess: ({ order_id, redirect_url }) => {
      clearCart();
      // In a new tab. If the browser does not allow it, the order's page has a link.
      if (redirect_url !== null) window.open(redirect_url, '_blank', 'noopener');
      void navigate(`/orders/${order_id}`);
    },
  });
  return (
    <section className="panel summary" aria-label="Summary">
      <p className="sum">
        <span>Total, {count(piecesIn(lines), 'piece')}</span>
        <strong>{formatPrice(lines.reduce((sum, line) => sum + sumOf(line), 0))}</strong>
      </p>
      <p className="hint">You pay on the page of our payment partner, which opens in a new tab.</p>
      <Alert>{error && explain(error)}</Alert>
      <Button
        className="button wide"
        aria-disabled={isPending}
        disabled={lines.length === 0}
        onClick={() => mutate()}
      >
        Order and pay
      </Button>
    </section>
  );
}

function sumOf({ price, quantity }: CartLine) {
  return Math.round(price) * quantity;
}
