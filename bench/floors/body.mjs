/** Reads the body of a request as text. */
export async function readBody(request) {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  return text;
}
