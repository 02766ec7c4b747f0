import type { DragEvent } from 'react';
import type { EditedImage } from '../../api/product-editing';
import { Button } from '../../components/button';
import { Icon } from '../../components/icon';
import { t } from '../../i18n';

const MOVES = [
  { offset: -1, key: 'pictures.earlier', arrow: '←' },
  { offset: 1, key: 'pictures.later', arrow: '→' },
] as const;

interface ImageTileProps {
  image: EditedImage;
  index: number;
  isMovable: (offset: -1 | 1) => boolean;
  /** Moves an image from one index to another, if this is possible. */
  onMove: (from: number, to: number) => void;
  /** Removes a new image, or marks or unmarks an existing image for removal. */
  onToggle: () => void;
}

/** Image in the form. A new image moves with its arrow buttons, or by being dragged to another image. */
export function ImageTile({ image, index, isMovable, onMove, onToggle }: ImageTileProps) {
  const { src, file, isRemoved = false } = image;
  const name = file?.name ?? t('pictures.number', { number: index + 1 });
  const state = getState(image);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const from = event.dataTransfer.getData('text/plain');
    // The data is empty for a file that comes from outside of the page.
    if (from !== '') onMove(Number(from), index);
  };
  return (
    <li
      className={isRemoved ? 'image-tile removed' : 'image-tile'}
      draggable={file !== undefined}
      onDragStart={({ dataTransfer }) => dataTransfer.setData('text/plain', String(index))}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      <img
        src={src}
        alt={name}
        width={160}
        height={120}
        draggable={false}
        // The image keeps its data. The URL of an image of the service is not affected.
        onLoad={() => URL.revokeObjectURL(src)}
      />
      {state !== 'kept' && <span className="badge tone-plain">{t(`pictures.${state}.badge`)}</span>}
      <Button className="toggle" aria-label={t(`pictures.${state}.action`, { name })} onClick={onToggle}>
        {isRemoved ? t('pictures.keep') : <Icon name="cross" />}
      </Button>
      {file && (
        <div className="move">
          {MOVES.map(({ offset, key, arrow }) => (
            <button
              key={key}
              type="button"
              aria-label={t(key, { name })}
              // A disabled button would lose the focus.
              aria-disabled={!isMovable(offset)}
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

function getState({ file, isRemoved }: EditedImage) {
  if (file) return 'new';
  return isRemoved ? 'removed' : 'kept';
}
