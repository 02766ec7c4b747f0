import PostalMime from 'postal-mime';

export type Mail = Readonly<Awaited<ReturnType<typeof parseMail>>>;

/** Parses the source of a mail. Missing fields become empty, and display names of addresses are left out. */
export async function parseMail(source: string | Buffer) {
  const { from, to = [], subject = '', text = '', html = '' } = await PostalMime.parse(source);
  const recipients = to.flatMap(({ address }) => address ?? []);
  return { from: from?.address ?? '', to: recipients, subject, text, html };
}
