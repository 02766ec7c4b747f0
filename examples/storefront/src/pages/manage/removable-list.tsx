import { Button } from '../../components/button';
import { t } from '../../i18n';

interface RemovableListProps {
  label: string;
  /** Texts of the items, each with a name for the button that removes the item. */
  items: { name: string; text: string }[];
  /** The pressed button disappears, so move the focus. */
  onRemove: (index: number) => void;
}

/** List whose items can be removed. */
export function RemovableList({ label, items, onRemove }: RemovableListProps) {
  return (
    <ul aria-label={label}>
      {items.map(({ name, text }, index) => (
        <li key={`${name} ${index}`}>
          {text}
          <Button className="link" aria-label={t('removeNamed', { name })} onClick={() => onRemove(index)}>
            {t('remove')}
          </Button>
        </li>
      ))}
    </ul>
  );
}
