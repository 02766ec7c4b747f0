import { toDeliveryError } from '../src/mail/delivery-error.js';
import { importBuilt, importPackage } from './support/built.js';
import { measureCpuMs, measureSlowness } from './support/measure.js';

/** Largest JSON body, and so the longest text that a client can send in one field. */
const LENGTH = 100 * 1024;
/** Limit on the machine for which the limits of the tests were chosen. */
const CPU_MS = 20;
const RUNS = 5;

const repeat = (unit: string): string => unit.repeat(LENGTH / unit.length);
const ideographs = String.fromCodePoint(
  ...Array.from({ length: LENGTH / 3 }, (_, i) => 0x4e00 + (i % 20_000)),
);

/** The texts that take parsers and regular expressions longest. A character of UTF-8 has up to three bytes. */
const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  'different ideographs': ideographs,
  'an email address with different ideographs': `a@${ideographs}`,
  'an email address with two writing directions': `a@${'\u05d0\u0661'.repeat(LENGTH / 4)}`,
  'an email address with encoded labels': `a@\u00e9.${repeat('xn--a.')}`,
  'an email address with a quoted local part': `"${repeat('\\"')}"@a.co`,
  'at signs': repeat('@'),
  'angle brackets': `${repeat('<')}a@b.co>`,
  'combining characters': 'e\u0301'.repeat(LENGTH / 3),
  'spaces in the middle': `a${repeat(' ')}b`,
  'spaces at the start': `${repeat(' ')}b`,
  'line breaks': repeat('\n'),
  digits: `${repeat('0')}x`,
  decimals: `1.${repeat('0')}x`,
  'a time': `2026-01-01T${repeat('0')}`,
  'times of a clock': repeat('12:'),
  'a phone number': repeat('+ ('),
  'a URL': `http://${repeat('a.')}`,
  nesting: repeat('['),
};

type Dto = new () => object;

/** Returns the fastest of up to RUNS runs, which other processes affect least. A run far below the limit is enough. */
async function measureFastest(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  while (times.length < RUNS && !times.some((time) => time < CPU_MS / 4))
    times.push(await measureCpuMs(work));
  return Math.min(...times);
}

it.each(Object.entries(HOSTILE_TEXTS))(
  'the validation of no field takes more than 20 ms of CPU time if the field contains 100 KB of %s',
  async (_what, text) => {
    await importBuilt('src/app.module.js'); // Loads all DTOs.
    const { checkDto } = await importBuilt('src/common/validation/validation.pipe.js');
    const { Env } = await importBuilt('src/config/env.js');
    const { getMetadataStorage } = await importPackage('class-validator');
    const storage = getMetadataStorage();
    const { validationMetadatas } = storage as unknown as { validationMetadatas: ReadonlyMap<Dto, unknown> };
    // Settings are not input of a client.
    const dtos = [...validationMetadatas.keys()].filter((dto) => (dto as unknown) !== Env);
    expect(dtos.length).toBeGreaterThan(20);
    const limitMs = CPU_MS * (await measureSlowness());
    const tooSlow: string[] = [];
    for (const dto of dtos) {
      const rules = storage.getTargetValidationMetadatas(dto, '', false, false);
      for (const field of new Set(rules.map(({ propertyName }) => propertyName)))
        for (const value of [text, [text]]) {
          const time = await measureFastest(() => checkDto(dto, { [field]: value }));
          if (time > limitMs) tooSlow.push(`${dto.name}.${field}: ${time} ms`);
        }
    }
    expect(tooSlow).toEqual([]);
  },
);

it('the reply of a mail server with 100 KB takes no more than 20 ms of CPU time to shorten', async () => {
  const limitMs = CPU_MS * (await measureSlowness());
  const reply = new Error(repeat('a'));
  expect(await measureFastest(() => Promise.resolve(toDeliveryError(reply)))).toBeLessThan(limitMs);
});
