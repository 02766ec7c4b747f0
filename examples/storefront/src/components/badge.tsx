/** Color of a badge or a panel, by what its text means. */
export type Tone = 'waiting' | 'good' | 'bad' | 'plain';

export function Badge({ label, tone }: { label: string; tone: Tone }) {
  return <span className={`badge tone-${tone}`}>{label}</span>;
}
