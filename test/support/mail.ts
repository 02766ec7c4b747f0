import PostalMime from 'postal-mime';

export type Mail = Readonly<Awaited<ReturnType<typeof parseMail>>>;

/** Parses the source of a mail. A text that the mail lacks is empty, and addresses contain no names. */
export async function parseMail(source: string | Buffer) {
  const { from, to = [], subject = '', text = '', html = '' } = await PostalMime.parse(source);
  const recipients = to.flatMap(({ address }) => address ?? []);
  return { from: from?.address ?? '', to: recipients, subject, text, html };
}
