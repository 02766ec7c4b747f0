/** Shorter base64 texts are ignored, because they occur by chance. */
const MIN_BASE64_LENGTH = 12;

/** Finds secrets in texts, plain or in the usual encodings. */
export class SecretFinder {
  readonly #patterns: { readonly name: string; readonly encoding: string; readonly pattern: RegExp }[] = [];

  add(name: string, value: string): void {
    if (value.length < 6) throw new Error(`${name} is too short to be found reliably`);
    // Several encodings of most values are equal. The first one names them.
    const encodings = new Map(
      listEncodings(value)
        .toReversed()
        .map(([encoding, text]) => [text, encoding]),
    );
    for (const [text, encoding] of encodings)
      this.#patterns.push({ name, encoding, pattern: buildPattern(value, text) });
  }

  /** Lists the secrets in a text without their values: `password of Ayu (base64) in the log`. */
  find(where: string, text: string): string[] {
    const found = this.#patterns.filter(({ pattern }) => pattern.test(text));
    return found.map(({ name, encoding }) => `${name} (${encoding}) in ${where}`);
  }
}

function listEncodings(value: string): [encoding: string, text: string][] {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ['plain', value],
    ['JSON', json],
    ['JSON within JSON', JSON.stringify(json).slice(1, -1)],
    ['URL', encodeURIComponent(value)],
    ['form field', new URLSearchParams({ x: value }).toString().slice(2)],
    ['hexadecimal', Buffer.from(value).toString('hex')],
    ...[0, 1, 2].flatMap((before) => listBase64Encodings(Buffer.from(value), before)),
  ];
}

/**
 * Encodes a value that is part of a longer base64 text, in both alphabets. Base64 encodes groups of three bytes, so the
 * characters at both ends depend on the neighboring bytes. This function omits these characters.
 * @param before number of bytes of the first group that precede the value
 */
function listBase64Encodings(value: Buffer, before: number): [encoding: string, text: string][] {
  const whole = Buffer.concat([Buffer.alloc(before), value]);
  const text = whole.subarray(0, whole.length - (whole.length % 3)).toString('base64');
  const fixed = text.slice(Math.ceil((before * 8) / 6));
  if (fixed.length < MIN_BASE64_LENGTH) return [];
  return [
    ['base64', fixed],
    ['base64url', fixed.replaceAll('+', '-').replaceAll('/', '_')],
  ];
}

/**
 * Builds a case-insensitive pattern for a value in one of its encodings. A plain code of six digits must stand alone,
 * because a timestamp may contain the same digits.
 */
function buildPattern(value: string, text: string): RegExp {
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return /^\d{6}$/.test(value) && text === value
    ? new RegExp(`(?<![\\w.:+-])${escaped}(?![\\w.:+-])`)
    : new RegExp(escaped, 'i');
}
