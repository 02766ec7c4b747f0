import type { Schemas } from '../../api/client';
import { t } from '../../i18n';
import { FiguresTable } from './figures-table';

/** Products of a day with the pieces that are still to be baked. */
export function BakeList({ products }: { products: Schemas['DayProductView'][] }) {
  const rows = products.map(({ name, open: toBake, quantity: ordered }) => ({
    name,
    figures: [<strong>{toBake}</strong>, ordered],
    isDone: toBake === 0,
  }));
  const totalToBake = products.reduce((total, { open }) => total + open, 0);
  const totalOrdered = products.reduce((total, { quantity }) => total + quantity, 0);
  return (
    <section className="panel bake" aria-labelledby="bake">
      <h2 id="bake">{t('bake.title')}</h2>
      <p role="status" className="hint">
        {rows.length === 0 ? t('bake.nothing') : describeToBake(totalToBake)}
      </p>
      {rows.length > 0 && (
        <FiguresTable
          columns={[t('table.product'), t('bake.title'), t('bake.ordered')]}
          rows={rows}
          total={[totalToBake, totalOrdered]}
        />
      )}
    </section>
  );
}

function describeToBake(count: number) {
  return count === 0 ? t('bake.done') : t('bake.toBake', { pieces: t('count.pieces', { count }) });
}
