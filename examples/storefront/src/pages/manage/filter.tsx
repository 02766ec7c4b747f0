import { t } from '../../i18n';
import { useUrlParameter } from '../../routing/url-parameters';

interface FilterProps {
  label: string;
  /** Name of the parameter in the URL. */
  name: string;
  /** Label by value. */
  options: Record<string, string>;
}

/** Select box that is bound to a parameter of the URL. */
export function Filter({ label, name, options }: FilterProps) {
  const [chosen, setChosen] = useUrlParameter(name);
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={chosen} onChange={({ target }) => setChosen(target.value)}>
        <option value="">{t('filter.all')}</option>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
