import type { ReactNode } from 'react';
import { t } from '../../i18n';

interface Row {
  name: string;
  figures: ReactNode[];
  /** Shows the row as finished. */
  isDone?: boolean;
}

interface FiguresTableProps {
  caption?: string;
  /** Heading of the names, then the headings of the figures. */
  columns: string[];
  rows: Row[];
  /** Figures of an additional last row, "Total". */
  total?: ReactNode[];
}

/** Table whose rows have a name and figures, such as a product and its revenue. */
export function FiguresTable({ caption, columns, rows, total }: FiguresTableProps) {
  return (
    <table>
      {caption && <caption className="visually-hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, figures, isDone }, index) => (
          // Rows have no state, and two of them may have the same name, so their positions are their keys.
          <tr key={index} className={isDone ? 'done' : undefined}>
            <th scope="row">{name}</th>
            <Figures figures={figures} />
          </tr>
        ))}
      </tbody>
      {total && (
        <tfoot>
          <tr>
            <th scope="row">{t('table.total')}</th>
            <Figures figures={total} />
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function Figures({ figures }: Pick<Row, 'figures'>) {
  return figures.map((figure, column) => <td key={column}>{figure}</td>);
}
