/**
 * Converts a body to multipart/form-data. Pass this function to a call as `bodySerializer`. A list becomes repeated
 * fields. A form cannot contain an empty list: if the name ends with `[]`, the form contains one empty value instead
 * (`images.removed[]`, contract 4.7); otherwise the field is omitted.
 */
export function asForm(body: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.length === 0 && name.endsWith('[]')) form.append(name, '');
    for (const entry of values) {
      if (entry instanceof Blob) form.append(name, entry);
      else form.append(name, String(entry));
    }
  }
  return form;
}
