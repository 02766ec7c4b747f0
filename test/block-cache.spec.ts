import { built } from './support/built.js';

const { BlockCache } = await built('src/products/listing/block-cache.js');
const { Block, BLOCK_IDS } = await built('src/products/listing/block.js');

/** A block with one product, as large as any other. */
function block(index: number): InstanceType<typeof Block> {
  const id = index * BLOCK_IDS + 1;
  return new Block(index, [{ id, json: JSON.stringify({ id }).padEnd(1000), digest: '1' }], index + 1);
}

const ROOM = 10;

function cacheOfBlocks() {
  const reads: number[] = [];
  const cache = new BlockCache(ROOM * block(1).cost, (index) => {
    reads.push(index);
    return Promise.resolve([block(index), block(index + 1)]);
  });
  return { cache, reads };
}

/** As the list does it. */
async function ask({ cache }: ReturnType<typeof cacheOfBlocks>, index: number): Promise<void> {
  if (cache.get(index) === undefined && cache.admits(index)) await cache.fetch(index);
}

describe('the memory of blocks', () => {
  it('page cache: reads every block that it has room for', async () => {
    const own = cacheOfBlocks();
    for (let index = 0; index < ROOM - 2; index += 2) await ask(own, index);
    expect(own.reads).toEqual([0, 2, 4, 6]);
    expect(own.cache.get(7)).toBeDefined();
  });

  it('page cache: what is asked for once does not push out what is asked for often', async () => {
    const own = cacheOfBlocks();
    for (let index = 0; index < ROOM; index += 2) await ask(own, index);
    const { length } = own.reads;
    for (let index = 1000; index < 2000; index += 2) await ask(own, index);
    expect(own.reads).toHaveLength(length);
    for (let index = 0; index < ROOM; index += 1) expect(own.cache.get(index)).toBeDefined();
  });

  it('page cache: what is asked for twice is kept, in the place of what nobody asked for since', async () => {
    const own = cacheOfBlocks();
    for (let index = 0; index < ROOM; index += 2) await ask(own, index);
    await ask(own, 1000);
    await ask(own, 1000);
    expect(own.cache.get(1000)).toBeDefined();
    expect(own.cache.get(0)).toBeUndefined();
    expect(own.cache.bytes).toBeLessThanOrEqual(ROOM * block(1).cost);
  });
});
