/** Thrown while content is read that is no picture of ours; `picture.ts` turns it into a verdict. */
export class NotAPicture extends Error {
  override readonly name = 'NotAPicture';
}

/** @throws NotAPicture unless the condition holds */
export function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new NotAPicture(what);
}
