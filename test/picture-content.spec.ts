import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { MemoryContent } from '../src/images/content/memory-content.js';
import { pictureFormat } from '../src/images/content/picture.js';
import {
  animatedPng,
  htmlNamedPng,
  jpeg,
  jpegSegment,
  noisyPng,
  padded,
  png,
  pngChunk,
  svgNamedPng,
  truncatedPng,
} from './support/pictures.js';

const ROOT = join(import.meta.dirname, '..');
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const END = pngChunk('IEND', Buffer.alloc(0));

type Format = 'png' | 'jpg';
interface Sample {
  readonly name: string;
  readonly bytes: Buffer;
  readonly format: Format;
}

function picturesIn(folder: string): Sample[] {
  return readdirSync(join(ROOT, folder)).map((name) => ({
    name,
    bytes: readFileSync(join(ROOT, folder, name)),
    format: name.endsWith('.png') ? 'png' : 'jpg',
  }));
}

/** Of encoders in use; `two-pictures.jpg` has a second one after its end, as cameras write it. */
const ENCODED = picturesIn('test/fixtures/pictures');
const VALID: readonly Sample[] = [
  ...ENCODED,
  ...picturesIn('examples/pictures'),
  { name: 'png()', bytes: png(), format: 'png' },
  { name: 'animatedPng()', bytes: animatedPng(), format: 'png' },
  { name: 'noisyPng()', bytes: noisyPng(40, 30), format: 'png' },
  { name: 'jpeg()', bytes: jpeg(), format: 'jpg' },
];
/** Without one that goes on after its end: what is cut off there is not missed. */
const ENDING = VALID.filter(({ name }) => name !== 'two-pictures.jpg');

function judge(bytes: Buffer): Promise<Format | null> {
  return pictureFormat(new MemoryContent(bytes).chunks());
}

/** The same bytes in pieces that share their memory, as they come from a file. */
async function judgeInPieces(bytes: Buffer, size: number): Promise<Format | null> {
  const shared = Buffer.alloc(size);
  async function* pieces(): AsyncGenerator<Buffer, void, undefined> {
    for (let at = 0; at < bytes.length; at += size) {
      await Promise.resolve();
      yield shared.subarray(0, bytes.copy(shared, 0, at, at + size));
    }
  }
  return pictureFormat(pieces());
}

function header(width: number, height: number, bitDepth = 8, colourType = 2, interlace = 0): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([bitDepth, colourType, 0, 0, interlace], 8);
  return pngChunk('IHDR', data);
}

/** A PNG of this header and these rows, with other chunks before its pixels. */
function pngOf(ihdr: Buffer, rows: Buffer, ...before: Buffer[]): Buffer {
  return Buffer.concat([SIGNATURE, ihdr, ...before, pngChunk('IDAT', deflateSync(rows)), END]);
}

/** A JPEG whose frame header was changed. */
function jpegWithFrame(change: (frame: Buffer) => void): Buffer {
  const bytes = jpeg();
  const at = bytes.indexOf(Buffer.from('ffc0', 'hex'));
  change(bytes.subarray(at));
  return bytes;
}

function inComment(text: string): Buffer {
  const bytes = jpeg();
  const comment = jpegSegment(0xfe, Buffer.from(text, 'latin1'));
  return Buffer.concat([bytes.subarray(0, 2), comment, bytes.subarray(2)]);
}

function inText(text: string): Buffer {
  const bytes = png();
  const chunk = pngChunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'));
  return Buffer.concat([bytes.subarray(0, 33), chunk, bytes.subarray(33)]);
}

describe('hostile input: what is taken for a picture', () => {
  it.each(VALID.map((sample): [string, Sample] => [sample.name, sample]))(
    'takes %s, however it arrives',
    async (_, { bytes, format }) => {
      expect(await judge(bytes)).toBe(format);
      expect(await judgeInPieces(bytes, 1)).toBe(format);
      expect(await judgeInPieces(bytes, 7)).toBe(format);
    },
  );

  it.each<[string, Buffer]>([
    ['padding of 5 MiB', padded(jpeg(), 5 * 1024 * 1024)],
    ['a second picture', Buffer.concat([jpeg(), jpeg(1)])],
    ['a video, as in a motion photo', Buffer.concat([jpeg(), Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0')])],
  ])('takes a picture that is followed by %s', async (_, bytes) => {
    expect(await judge(bytes)).toBe('jpg');
  });

  it('takes XMP, and text that only talks of markup', async () => {
    const xmp = '<?xpacket begin=""?><x:xmpmeta><rdf:RDF></rdf:RDF></x:xmpmeta><?xpacket end="w"?>';
    expect(await judge(inComment(xmp))).toBe('jpg');
    expect(await judge(inText(`${xmp} a <b>bold</b> scripture, <bodyguard>, <svgx>`))).toBe('png');
  });
});

describe('hostile input: what is refused by its content', () => {
  const gif = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1');
  const webp = Buffer.from(
    'RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0',
    'latin1',
  );
  const bomb = deflateSync(Buffer.alloc(20_000_000));
  const text = (type: string, data: Buffer): Buffer =>
    pngChunk(type, Buffer.concat([Buffer.from('a\0\0'), data]));
  const row = Buffer.alloc(25);

  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['an SVG', svgNamedPng()],
    ['an HTML page', htmlNamedPng()],
    ['a GIF', gif],
    ['a WebP', webp],
    ['a PNG that ends in its header', truncatedPng()],
    ['the signature of a PNG alone', SIGNATURE],
    ['the first bytes of a JPEG alone', Buffer.from('ffd8ffe000104a464946', 'hex')],
    [
      'the first bytes of a JPEG before a page',
      Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), htmlNamedPng()]),
    ],
    ['a JPEG without a scan', Buffer.from('ffd8ffd9', 'hex')],
    ['a PNG without pixels', Buffer.concat([SIGNATURE, header(8, 1), END])],
    ['a PNG with a wrong sum', Buffer.from(png()).fill(0xff, 29, 33)],
    ['a PNG of no width', pngOf(header(0, 1), Buffer.alloc(1))],
    ['a PNG of a colour type that does not exist', pngOf(header(8, 1, 8, 5), row)],
    ['a PNG of a bit depth that its colour type has not', pngOf(header(8, 1, 4, 2), row)],
    ['a PNG with colours of a palette that is missing', pngOf(header(8, 1, 8, 3), Buffer.alloc(9))],
    ['a PNG with an unknown critical chunk', pngOf(header(8, 1), row, pngChunk('EViL', row))],
    ['a PNG with a pixel too few', pngOf(header(8, 1), row.subarray(1))],
    ['a PNG with a byte too much', pngOf(header(8, 1), Buffer.alloc(26))],
    ['a pixel bomb: PNG of 7,072 × 7,072', pngOf(header(7072, 7072, 1, 0), Buffer.alloc(885 * 7072))],
    ['a pixel bomb: PNG of 2^31 × 2^31', pngOf(header(2 ** 31 - 1, 2 ** 31 - 1, 1, 0), row)],
    [
      'a decompression bomb in its pixels',
      Buffer.concat([SIGNATURE, header(8, 1), pngChunk('IDAT', bomb), END]),
    ],
    ['a decompression bomb in a text', pngOf(header(8, 1), row, text('zTXt', bomb))],
    ['a decompression bomb in a colour profile', pngOf(header(8, 1), row, text('iCCP', bomb))],
    [
      'a decompression bomb in an international text',
      pngOf(header(8, 1), row, pngChunk('iTXt', Buffer.concat([Buffer.from('a\0\x01\0\0\0'), bomb]))),
    ],
    [
      'many texts that are a bomb together',
      pngOf(
        header(8, 1),
        row,
        ...Array.from({ length: 9 }, () => text('zTXt', deflateSync(Buffer.alloc(1_000_000)))),
      ),
    ],
    [
      'a thousand and one chunks',
      pngOf(header(8, 1), row, ...Array.from({ length: 1001 }, () => pngChunk('teSt', row))),
    ],
    [
      'a pixel bomb: JPEG of 65,500 × 65,500',
      jpegWithFrame((frame) => frame.fill(Buffer.from([0xff, 0xdc]), 5, 9)),
    ],
    [
      'a JPEG with too little data for its size',
      jpegWithFrame((frame) => frame.fill(Buffer.from([4, 0]), 5, 9)),
    ],
    ['a JPEG of no height', jpegWithFrame((frame) => frame.fill(0, 5, 7))],
    ['a lossless JPEG', jpegWithFrame((frame) => (frame[1] = 0xc3))],
    ['an arithmetic-coded JPEG', jpegWithFrame((frame) => (frame[1] = 0xc9))],
    ['a JPEG of 12 bits', jpegWithFrame((frame) => (frame[4] = 12))],
    [
      'a JPEG of 101 scans',
      Buffer.concat([
        jpeg().subarray(0, -2),
        ...Array.from({ length: 100 }, () =>
          Buffer.concat([jpegSegment(0xda, Buffer.from('010100003f00', 'hex')), Buffer.from([0x3f])]),
        ),
        Buffer.from('ffd9', 'hex'),
      ]),
    ],
  ])('%s', async (_, bytes) => {
    expect(await judge(bytes)).toBeNull();
  });

  const FOREIGN: [string, string][] = [
    ['a script', '<ScRiPt>alert(1)</script>'],
    ['a page', '<html><body>a page'],
    ['a body', '<body onload=alert(1)>'],
    ['a document type', '<!DOCTYPE html>'],
    ['a frame', '<iframe src=//evil.example>'],
    ['an SVG', '<svg onload=alert(1)>'],
    ['PHP', '<?php system($_GET[0]); ?>'],
    ['a PDF', '%PDF-1.7\n1 0 obj'],
    ['a ZIP', 'PK\x03\x04\x14\0\0\0\x08\0'],
    ['the directory of a ZIP', `PK\x05\x06${'\0'.repeat(18)}`],
    ['a RAR', 'Rar!\x1a\x07\x01\0'],
    ['a 7-Zip', '7z\xbc\xaf\x27\x1c\0\x04'],
  ];

  it.each(FOREIGN)('a picture that is also %s, wherever that stands', async (_, foreign) => {
    for (const bytes of [
      inComment(foreign),
      inText(foreign),
      Buffer.concat([jpeg(), Buffer.from(foreign, 'latin1')]),
      Buffer.concat([png(), Buffer.alloc(100), Buffer.from(foreign, 'latin1')]),
    ]) {
      expect(await judge(bytes)).toBeNull();
      for (const size of [1, 5, 64]) expect(await judgeInPieces(bytes, size)).toBeNull();
    }
  });

  it.each([
    ['a program for Linux', '\x7fELF\x02\x01'],
    ['a program for Windows', 'MZ\x90\0'],
    ['a shell script', '#!/bin/sh\n'],
    ['a gzip', '\x1f\x8b\x08\0'],
  ])('a picture with %s attached', async (_, start) => {
    for (const bytes of [png(), jpeg()])
      expect(await judge(Buffer.concat([bytes, Buffer.from(start, 'latin1')]))).toBeNull();
  });
});

describe('hostile input: whatever arrives is judged and nothing throws', () => {
  const sample = fc.constantFrom(...ENDING);

  it('no picture that is cut is taken, wherever it is cut', async () => {
    for (const { bytes } of ENDING.filter(({ bytes: { length } }) => length < 1000)) {
      for (let length = 0; length < bytes.length; length += 1) {
        if ((await judge(bytes.subarray(0, length))) !== null) throw new Error(`taken with ${length} bytes`);
      }
    }
  });

  it('changed bytes are judged the same in one piece and in many', async () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(sample, changes, fc.integer({ min: 1, max: 300 }), async ({ bytes }, edits, size) => {
        const changed = Buffer.from(bytes);
        for (const [at, value] of edits) changed[at % changed.length] = value;
        expect(await judgeInPieces(changed, size)).toBe(await judge(changed));
      }),
      { numRuns: 300 },
    );
  });

  it('a PNG whose bytes were changed is not taken, for every chunk has its sum', async () => {
    const pngs = fc.constantFrom(...ENDING.filter(({ format }) => format === 'png'));
    await fc.assert(
      fc.asyncProperty(
        pngs,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async ({ bytes }, at, difference) => {
          const changed = Buffer.from(bytes);
          const index = at % changed.length;
          changed[index] = (changed[index] ?? 0) ^ difference;
          expect(await judge(changed)).toBeNull();
        },
      ),
      { numRuns: 300 },
    );
  });

  it('random bytes after a signature are not taken', async () => {
    const start = fc.constantFrom(
      SIGNATURE,
      Buffer.from('ffd8', 'hex'),
      Buffer.concat([SIGNATURE, header(3, 3)]),
    );
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 400 }), async (first, rest) => {
        expect(await judge(Buffer.concat([first, rest]))).toBeNull();
      }),
      { numRuns: 300 },
    );
  });

  it('every colour type and bit depth is taken with just its bytes, and not with one more or less', async () => {
    const kinds = [0, 2, 3, 4, 6].flatMap((colourType) =>
      [1, 2, 4, 8, 16]
        .filter(
          (depth) =>
            depth === 8 || (depth === 16 && colourType !== 3) || (depth < 8 && [0, 3].includes(colourType)),
        )
        .map((depth) => ({ colourType, depth })),
    );
    const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
    const size = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...kinds),
        size,
        size,
        async ({ colourType, depth }, width, height) => {
          const bytes = height * (1 + Math.ceil((width * depth * (channels[colourType] ?? 0)) / 8));
          const palette = colourType === 3 ? [pngChunk('PLTE', Buffer.alloc(6))] : [];
          const of = (length: number): Buffer =>
            pngOf(header(width, height, depth, colourType), Buffer.alloc(length), ...palette);
          expect(await judge(of(bytes))).toBe('png');
          expect(await judge(of(bytes + 1))).toBeNull();
          expect(await judge(of(bytes - 1))).toBeNull();
        },
      ),
      { numRuns: 60 },
    );
  });
});
