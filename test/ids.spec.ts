import fc from 'fast-check';
import { parseId, parseLastId } from '../src/common/ids.js';

const MAX_INT4 = 2_147_483_647;

describe('an id in a path', () => {
  it.each(['1', '42', `${MAX_INT4}`])('%s is read', (text) => {
    expect(parseId(text)).toBe(Number(text));
  });

  it.each(['', '0', '-1', '01', '1.0', '1e1', ' 1', '1\n', '٣', `${MAX_INT4 + 1}`, '9'.repeat(1000)])(
    '%j can be the id of no row',
    (text) => {
      expect(parseId(text)).toBeNull();
    },
  );
});

describe('the last id of a page', () => {
  it('may be any number: the page begins with the first id that is larger (contract 4.5)', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer({ min: 1, max: MAX_INT4 }),
        (number, id) => {
          const lastId = parseLastId(String(number));
          expect(lastId !== null && Number.isInteger(lastId)).toBe(true);
          expect(id > Number(lastId)).toBe(id > number);
        },
      ),
    );
  });

  it.each([
    ['-7', 0],
    ['+7', 7],
    ['7.9', 7],
    ['70e-1', 7],
    [' 7 ', 7],
    [`${MAX_INT4 + 1}`, MAX_INT4],
    ['1e400', MAX_INT4],
  ])('%j is read as %d', (text, lastId) => {
    expect(parseLastId(text)).toBe(lastId);
  });

  it.each(['', 'abc', '1a', '0x10', 'NaN', 'Infinity', '٣', '1\0', ['1', '2'], null, { $gt: '' }])(
    '%j is no number',
    (value) => {
      expect(parseLastId(value)).toBeNull();
    },
  );
});
