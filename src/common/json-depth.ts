/** Deepest nesting of a JSON body. The validation works recursively: 100 KiB of brackets would exhaust the stack. */
const MAX_DEPTH = 32;

/** Whether a parsed value is nested no deeper than that. Goes level by level: too deep a value would break a recursion. */
export function isWithinDepth(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next: unknown[] = [];
    for (const entry of level)
      if (typeof entry === 'object' && entry !== null)
        for (const inner of Object.values(entry)) if (typeof inner === 'object') next.push(inner);
    if (next.length === 0) return true;
    level = next;
  }
  return false;
}
