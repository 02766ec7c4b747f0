/** What a CLOUDINARY_URL says, under the names of the SDK's options. */
export type CloudinaryAccount = ReturnType<typeof parseCloudinaryUrl>;

const FORM = 'CLOUDINARY_URL must be cloudinary://<api key>:<api secret>@<cloud name>';

/**
 * Reads the SDK's own form, `cloudinary://key:secret@cloud?upload_prefix=…&signature_algorithm=…`. Other
 * query parameters of the SDK concern delivery addresses, which this service does not build.
 *
 * @throws Error on any other form; its message does not repeat the text, which holds a secret
 */
export function parseCloudinaryUrl(text: string) {
  // Not `new URL` in a try block: the error that it throws carries the whole text in `input`.
  if (!URL.canParse(text)) throw new Error(FORM);
  const { protocol, username, password, hostname, port, searchParams } = new URL(text);
  // Base address of the upload API.
  const upload_prefix = searchParams.get('upload_prefix') ?? 'https://api.cloudinary.com';
  // Set per account in Cloudinary's console.
  const signature_algorithm = searchParams.get('signature_algorithm') ?? 'sha1';
  const isWhole = protocol === 'cloudinary:' && username && password && hostname && port === '';
  const isPrefix = /^https?:/.test(upload_prefix) && URL.canParse(upload_prefix);
  if (!isWhole || !isPrefix || (signature_algorithm !== 'sha1' && signature_algorithm !== 'sha256'))
    throw new Error(FORM);
  return {
    cloud_name: decodeURIComponent(hostname),
    api_key: decodeURIComponent(username),
    api_secret: decodeURIComponent(password),
    upload_prefix: upload_prefix.replace(/\/+$/, ''),
    signature_algorithm,
  } as const;
}
