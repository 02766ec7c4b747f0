import { useParameter } from '../../components/search';

interface FilterProps {
  label: string;
  /** Name of the parameter in the address. */
  name: string;
  /** Options by value. */
  options: Record<string, { label: string }>;
}

/** Select box that is bound to a parameter of the address. */
export function Filter({ label, name, options }: FilterProps) {
  const [chosen, choose] = useParameter(name);
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={chosen} onChange={({ target }) => choose(target.value)}>
        <option value="">All</option>
        {Object.entries(options).map(([value, option]) => (
          <option key={value} value={value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  );
}
