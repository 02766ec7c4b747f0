import { importPackage } from './built.js';

/** Sums up the values of a metric of this process whose labels include these labels. */
export async function readMetric(name: string, labels: Readonly<Record<string, string>> = {}) {
  const { register } = await importPackage('prom-client');
  const values = (await register.getSingleMetric(name)?.get())?.values ?? [];
  return values
    .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
