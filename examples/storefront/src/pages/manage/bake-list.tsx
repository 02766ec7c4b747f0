import { count } from '../../format';

interface BakedProduct {
  product_id: number;
  name: string;
  /** Pieces in all orders of the day. */
  quantity: number;
  /** Pieces in orders that are not ready yet. */
  open: number;
}

/** Products of a day with the pieces that are still to be baked. */
export function BakeList({ products }: { products: BakedProduct[] }) {
  const sum = (key: 'quantity' | 'open') => products.reduce((total, product) => total + product[key], 0);
  const open = sum('open');
  return (
    <section className="panel bake" aria-labelledby="bake">
      <h2 id="bake">To bake</h2>
      <p role="status" className="hint">
        {products.length === 0 && 'Nothing is ordered for this day.'}
        {products.length > 0 && (open === 0 ? 'Everything is baked.' : `${count(open, 'piece')} to bake.`)}
      </p>
      {products.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Product</th>
              <th scope="col">To bake</th>
              <th scope="col">Ordered</th>
            </tr>
          </thead>
          <tbody>
            {products.map((product) => (
              <tr
                key={`${product.product_id} ${product.name}`}
                className={product.open === 0 ? 'done' : undefined}
              >
                <th scope="row">{product.name}</th>
                <td>
                  <strong>{product.open}</strong>
                </td>
                <td>{product.quantity}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              <td>{open}</td>
              <td>{sum('quantity')}</td>
            </tr>
          </tfoot>
        </table>
      )}
    </section>
  );
}
