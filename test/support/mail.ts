import PostalMime from 'postal-mime';

export type Mail = Readonly<Awaited<ReturnType<typeof parseMail>>>;

/** Parses the source of a mail. Missing fields become empty, and display names of addresses are left out. */
export async function parseMail(source: string | Buffer) {
  const { from, to = [], subject = '', text = '', html = '' } = await PostalMime.parse(source);
  const recipients = to.flatMap(({ address }) => address ?? []);
  return { from: from?.address ?? '', to: recipients, subject, text, html };
}

/** Six digits that are not part of an id or a time. */
const CODE = /(?<![\w.-])\d{6}(?![\w-])/g;

export function listCodes(text: string): string[] {
  return text.match(CODE) ?? [];
}

/** Returns the first one-time code in the text of a mail. */
export function findCode(text: string): string {
  const [code] = listCodes(text);
  if (code === undefined) throw new Error('there is no code in the mail');
  return code;
}
