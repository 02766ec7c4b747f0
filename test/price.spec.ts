import fc from 'fast-check';
import { parsePrice } from '../src/products/price.js';
import { createDatabase, type TestDatabase } from './support/databases.js';

/** Written independently of the parser: a plain decimal number, 0 or more, under 10^12, at most two decimals. */
function isPrice(text: string): boolean {
  const [whole = '', decimals, ...rest] = text.split('.');
  const isDigits = (part: string): boolean =>
    part !== '' && Array.from(part).every((c) => c >= '0' && c <= '9');
  if (rest.length > 0 || !isDigits(whole)) return false;
  if (decimals !== undefined && !(isDigits(decimals) && decimals.length <= 2)) return false;
  return BigInt(whole) < 10n ** 12n;
}

const decimals = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }),
    fc.integer({ min: 0, max: 5 }),
    fc.option(fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength: 1, maxLength: 2 })),
  )
  .map(([whole, zeros, digits]) => '0'.repeat(zeros) + String(whole) + (digits === null ? '' : `.${digits}`));

const nearMisses = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789.,+-eE_x ')), maxLength: 20 }),
  fc.double().map(String),
  fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }).map(String),
);

describe('parsePrice', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
  });

  afterAll(() => database.drop());

  it('accepts every plain decimal number with at most 2 decimals under 10^12', () => {
    fc.assert(
      fc.property(decimals, (text) => {
        expect(parsePrice(text)).not.toBeNull();
        expect(parsePrice(` ${text}\t`)).toBe(parsePrice(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('what it takes is exact, in PostgreSQL and in the answer', async () => {
    const texts = fc.sample(decimals, 2000);
    const parsed = texts.map((text) => parsePrice(text));
    const { rows } = await database.pool.query<{ sent: string; exact: boolean; stored: string }>(
      `SELECT sent, sent::numeric = parsed::numeric(14, 2) AS exact, parsed::numeric(14, 2)::text AS stored
       FROM unnest($1::text[], $2::text[]) AS prices (sent, parsed)`,
      [texts, parsed],
    );
    expect(rows).toHaveLength(texts.length);
    expect(rows.filter(({ exact }) => !exact)).toEqual([]);
    // A JSON number of 14 digits loses nothing either.
    expect(rows.filter(({ stored }) => Number(stored).toFixed(2) !== stored)).toEqual([]);
  });

  it('everything else is no price', () => {
    fc.assert(
      fc.property(nearMisses, (text) => {
        expect(parsePrice(text) !== null).toBe(isPrice(text.trim()));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['0', '0'],
    ['0.1', '0.1'],
    ['000', '0'],
    ['007.50', '7.50'],
    [' 12500 ', '12500'],
    ['999999999999.99', '999999999999.99'],
    ['0'.repeat(40) + '999999999999', '999999999999'],
  ])('%j is the price %s', (text, price) => {
    expect(parsePrice(text)).toBe(price);
  });

  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '.5',
    '5.',
    '1.234',
    '1,000',
    '1e3',
    '0x10',
    'Infinity',
    '1000000000000',
    '٣',
    '12\0',
    '9'.repeat(100_000),
  ])('%j is no price', (text) => {
    expect(parsePrice(text)).toBeNull();
  });
});
