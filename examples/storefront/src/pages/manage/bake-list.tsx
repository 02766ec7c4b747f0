import type { Schemas } from '../../api/client';
import { formatCount } from '../../format';
import { FiguresTable } from './figures-table';

/** Products of a day with the pieces that are still to be baked. */
export function BakeList({ products }: { products: Schemas['DayProductView'][] }) {
  const sum = (key: 'quantity' | 'open') => products.reduce((total, product) => total + product[key], 0);
  const open = sum('open');
  const rows = products.map((product) => ({
    key: `${product.product_id} ${product.name}`,
    name: product.name,
    figures: [<strong>{product.open}</strong>, product.quantity],
    isDone: product.open === 0,
  }));
  return (
    <section className="panel bake" aria-labelledby="bake">
      <h2 id="bake">To bake</h2>
      <p role="status" className="hint">
        {rows.length === 0 && 'Nothing is ordered for this day.'}
        {rows.length > 0 && (open === 0 ? 'Everything is baked.' : `${formatCount(open, 'piece')} to bake.`)}
      </p>
      {rows.length > 0 && (
        <FiguresTable
          columns={['Product', 'To bake', 'Ordered']}
          rows={rows}
          total={[open, sum('quantity')]}
        />
      )}
    </section>
  );
}
