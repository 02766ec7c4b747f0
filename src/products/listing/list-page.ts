/** Products of one page (interface.md section 8). */
export const PAGE_SIZE = 50;

/** One page of the list, serialised. Every way of making it gives the same bytes and the same tag. */
export interface ListPage {
  /** JSON objects with commas between them: each piece goes on where the former ends, a comma in between. */
  readonly pieces: readonly (Buffer | string)[];
  readonly lastId: number;
  /** Sum of the digests of its products modulo 2^64. */
  readonly digest: bigint;
}

/**
 * The page's entity tag: weak, as Express makes them. It needs no look at the body, whose text is determined by the
 * products that it holds, and each product's digest covers its id.
 */
export function tagOf({ digest }: ListPage): string {
  return `W/"${digest.toString(16).padStart(16, '0')}"`;
}

/** The body of the answer, in the pieces in which it can be sent (interface.md 4.5). */
export function bodyOf({ pieces, lastId }: ListPage): (Buffer | string)[] {
  const body: (Buffer | string)[] = [
    `{"status":"success","data":{"meta":{"lastProductId":${lastId}},"products":[`,
  ];
  pieces.forEach((piece, position) => {
    if (position > 0) body.push(',');
    body.push(piece);
  });
  body.push(']}}');
  return body;
}
