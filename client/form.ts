/**
 * A body as multipart/form-data, for the calls whose body is a form: `bodySerializer: asForm`. Lists are repeated
 * fields, and the empty list of a text field (`images.removed[]`) is one empty value (interface 4.7).
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
