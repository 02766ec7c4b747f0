/** Does not quote the URL, which contains the secret. */
const INVALID = 'CLOUDINARY_URL is invalid';

export type CloudinaryAccount = ReturnType<typeof parseCloudinaryUrl>;

/** Parses a URL of Cloudinary's SDK. Ignores all query parameters except `upload_prefix` and `signature_algorithm`. */
export function parseCloudinaryUrl(text: string) {
  if (!URL.canParse(text)) throw new Error(INVALID);
  const { protocol, username, password, hostname, port, searchParams } = new URL(text);
  const upload_prefix = searchParams.get('upload_prefix') ?? 'https://api.cloudinary.com';
  const signature_algorithm = searchParams.get('signature_algorithm') ?? 'sha1';
  const isComplete = Boolean(protocol === 'cloudinary:' && username && password && hostname && port === '');
  const isPrefixValid = /^https?:/.test(upload_prefix) && URL.canParse(upload_prefix);
  if (!isComplete || !isPrefixValid || (signature_algorithm !== 'sha1' && signature_algorithm !== 'sha256'))
    throw new Error(INVALID);
  return {
    cloud_name: decodeURIComponent(hostname),
    api_key: decodeURIComponent(username),
    api_secret: decodeURIComponent(password),
    upload_prefix: upload_prefix.replace(/\/+$/, ''),
    signature_algorithm,
  } as const;
}
