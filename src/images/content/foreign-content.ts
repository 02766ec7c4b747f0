import { NotAPicture } from './not-a-picture.js';

/**
 * What a browser or PHP would take for a page or a program, wherever it stands. The short ones must be followed by
 * text: in compressed data, where chance writes, `<svg` alone would turn up in one large photo of a hundred.
 */
const MARKUP = /<(?:script|iframe|!doctype|\?php\s|(?:html|body|svg)[\s/>][\t\n\r\x20-\x7e]{8})/i;

/**
 * What is found by programs that look for their own anywhere in a file: ZIP (a header, the end of its directory; with
 * it jar, apk and office documents), PDF, RAR, 7-Zip. Eight or six bytes each, which chance does not write.
 */
const EMBEDDED = new RegExp(
  [
    'PK\\x03\\x04[\\x00-\\x3f]\\x00',
    'PK\\x05\\x06\\x00{4}',
    '%PDF-\\d',
    'Rar!\\x1a\\x07',
    '7z\\xbc\\xaf\\x27\\x1c',
  ].join('|'),
);

/** Bytes before the end of a chunk where one of the patterns may have begun: the longest has 14. */
const OVERLAP = 16;

/** Programs and archives that a file only carries: told by the first bytes after the end of the picture. */
const ATTACHED = ['\x7fELF', 'MZ', '#!', '\x1f\x8b\x08', 'BZh', '\xfd7zXZ', '\xca\xfe\xba\xbe', 'GIF8'];

/** Looks through the whole file, piece by piece, for what another program would take for its own. */
export class ForeignContent {
  #tail = '';

  /** @throws NotAPicture */
  see(chunk: Buffer): void {
    const text = this.#tail + chunk.toString('latin1');
    if (MARKUP.test(text)) throw new NotAPicture('holds markup');
    if (EMBEDDED.test(text)) throw new NotAPicture('holds an archive or a document');
    this.#tail = text.slice(-OVERLAP);
  }

  /**
   * Cameras append previews and videos and clients pad, so that something after the end is no reason by itself.
   * @param trailer its first bytes
   * @throws NotAPicture
   */
  seeTrailer(trailer: Buffer): void {
    const text = trailer.toString('latin1');
    if (ATTACHED.some((start) => text.startsWith(start))) throw new NotAPicture('a program is attached');
  }
}
