/** Returns a LIKE pattern for values that contain the text. Escapes wildcards in the text. */
export function toLikePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
