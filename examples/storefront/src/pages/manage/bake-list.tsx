import type { Schemas } from '../../api/client';
import { t } from '../../i18n';
import { FiguresTable } from './figures-table';

/** Products of a day with the pieces that are still to be baked. */
export function BakeList({ products }: { products: Schemas['DayProductView'][] }) {
  const sum = (key: 'quantity' | 'open') => products.reduce((total, product) => total + product[key], 0);
  const open = sum('open');
  const rows = products.map((product) => ({
    name: product.name,
    figures: [<strong>{product.open}</strong>, product.quantity],
    isDone: product.open === 0,
  }));
  return (
    <section className="panel bake" aria-labelledby="bake">
      <h2 id="bake">{t('bake.title')}</h2>
      <p role="status" className="hint">
        {rows.length === 0 ? t('bake.nothing') : describeOpen(open)}
      </p>
      {rows.length > 0 && (
        <FiguresTable
          columns={[t('table.product'), t('bake.title'), t('bake.ordered')]}
          rows={rows}
          total={[open, sum('quantity')]}
        />
      )}
    </section>
  );
}

function describeOpen(count: number) {
  return count === 0 ? t('bake.done') : t('bake.open', { pieces: t('count.pieces', { count }) });
}
