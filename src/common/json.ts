export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns null for a text that is not JSON, or whose value is not an object. */
export function parseJsonObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
