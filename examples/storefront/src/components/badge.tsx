/** Meaning of the text in a badge or a panel, which decides the color. */
export type Tone = 'waiting' | 'success' | 'error' | 'plain';

export function Badge({ label, tone }: { label: string; tone: Tone }) {
  return <span className={`badge tone-${tone}`}>{label}</span>;
}
