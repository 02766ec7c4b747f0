import type { DragEvent } from 'react';
import type { EditedPicture } from '../../api/product-editing';
import { Icon } from '../../components/icon';
import { t } from '../../i18n';

const MOVES = [
  { offset: -1, key: 'pictures.earlier', arrow: '←' },
  { offset: 1, key: 'pictures.later', arrow: '→' },
] as const;

interface PictureTileProps {
  picture: EditedPicture;
  /** Position from 1. */
  position: number;
  isMovable: (offset: -1 | 1) => boolean;
  /** Moves a picture from one index to another. */
  onMove: (from: number, to: number) => void;
  /** Takes out a new picture, or marks or unmarks an existing picture for removal. */
  onToggle: () => void;
}

/** Picture of the form. A new picture moves with its arrow buttons, or by being dragged to another picture. */
export function PictureTile({ picture, position, isMovable, onMove, onToggle }: PictureTileProps) {
  const { src, file, isRemoved = false } = picture;
  const index = position - 1;
  const name = file?.name ?? t('pictures.number', { number: position });
  const state = getState(picture);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const from = event.dataTransfer.getData('text/plain');
    // The data is empty for a file that comes from outside of the page.
    if (from !== '') onMove(Number(from), index);
  };
  return (
    <li
      className={isRemoved ? 'picture-tile removed' : 'picture-tile'}
      draggable={file !== undefined}
      onDragStart={({ dataTransfer }) => dataTransfer.setData('text/plain', String(index))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      <img src={src} alt={name} width={160} height={120} draggable={false} />
      {state !== 'kept' && <span className="badge tone-plain">{t(`pictures.${state}.badge`)}</span>}
      <button
        type="button"
        className="toggle"
        aria-label={t(`pictures.${state}.action`, { name })}
        onClick={onToggle}
      >
        {isRemoved ? t('pictures.keep') : <Icon name="cross" />}
      </button>
      {file && (
        <div className="move">
          {MOVES.map(({ offset, key, arrow }) => (
            <button
              key={key}
              type="button"
              aria-label={t(key, { name })}
              disabled={!isMovable(offset)}
              onClick={() => onMove(index, index + offset)}
            >
              {arrow}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}

function getState({ file, isRemoved }: EditedPicture) {
  if (file) return 'new';
  return isRemoved ? 'removed' : 'kept';
}
