import fc from 'fast-check';
import { parseId, parseLastId } from '../src/common/ids.js';

const MAX_INT4 = 2_147_483_647;

describe('parseId', () => {
  it('decisions, Products: reads every id that a product can have', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_INT4 }), (id) => {
        expect(parseId(String(id))).toBe(id);
      }),
    );
  });

  it('decisions, Products: whatever else a text says, it is no id', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...Array.from('0123456789+-.e ')) })),
        (text) => {
          const id = parseId(text);
          if (id === null) return;
          expect(String(id)).toBe(text);
          expect(id).toBeGreaterThanOrEqual(1);
          expect(id).toBeLessThanOrEqual(MAX_INT4);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each(['', '0', '-1', '01', '1.0', '1e1', ' 1', '1 ', '1\n', '٣', `${MAX_INT4 + 1}`, '9'.repeat(1000)])(
    'decisions, Products: %j is no id',
    (text) => {
      expect(parseId(text)).toBeNull();
    },
  );
});

describe('parseLastId', () => {
  it('interface 4.5: of any finite number, an id comes after the answer exactly if it comes after the number', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 1, max: MAX_INT4 }),
        (number, id) => {
          const lastId = parseLastId(String(number));
          if (lastId === null) throw new Error(`${number} was not read as a number`);
          expect(id > lastId).toBe(id > number);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('interface 4.5: the answer is always a whole number that PostgreSQL can compare with an id', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789+-.eE ')) }), (text) => {
        const lastId = parseLastId(text);
        if (lastId === null) return;
        expect(Number.isInteger(lastId)).toBe(true);
        expect(Math.min(Math.max(lastId, 0), MAX_INT4)).toBe(lastId);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['0', 0],
    ['-7', 0],
    ['7', 7],
    ['+7', 7],
    ['7.9', 7],
    ['7e2', 700],
    ['70e-1', 7],
    [' 7 ', 7],
    [`${MAX_INT4 + 1}`, MAX_INT4],
    ['1e400', MAX_INT4],
    ['-1e400', 0],
  ])('interface 4.5: %j is read as %d', (text, lastId) => {
    expect(parseLastId(text)).toBe(lastId);
  });

  it.each(['', ' ', 'abc', '1a', '0x10', '1,5', '1_000', 'NaN', 'Infinity', '--1', '1e', '٣', '1\0'])(
    'decisions, Products: %j is no number',
    (text) => {
      expect(parseLastId(text)).toBeNull();
    },
  );

  it.each([[['1', '2']], [7], [null], [{ $gt: '' }]])('decisions, Products: %j is no number', (value) => {
    expect(parseLastId(value)).toBeNull();
  });
});
