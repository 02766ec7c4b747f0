export type CloudinaryAccount = ReturnType<typeof parseCloudinaryUrl>;

/**
 * Parses CLOUDINARY_URL, which has the form of Cloudinary's SDK. Ignores the path, and all query parameters except
 * `upload_prefix` and `signature_algorithm`.
 * @throws Error for an invalid URL. The message does not quote the URL, which contains the secret
 */
export function parseCloudinaryUrl(text: string) {
  const { protocol, username, password, hostname, port, searchParams } = new URL(text);
  const upload_prefix = searchParams.get('upload_prefix') ?? 'https://api.cloudinary.com';
  const signature_algorithm = searchParams.get('signature_algorithm') ?? 'sha1';
  const isAccountValid = Boolean(
    protocol === 'cloudinary:' && username && password && hostname && port === '',
  );
  // Paths are appended to the prefix.
  const isPrefixValid = /^https?:[^?#]*$/.test(upload_prefix) && URL.canParse(upload_prefix);
  if (
    !isAccountValid ||
    !isPrefixValid ||
    (signature_algorithm !== 'sha1' && signature_algorithm !== 'sha256')
  )
    throw new Error('CLOUDINARY_URL is invalid');
  return {
    cloud_name: decodeURIComponent(hostname),
    api_key: decodeURIComponent(username),
    api_secret: decodeURIComponent(password),
    upload_prefix: upload_prefix.replace(/\/+$/, ''),
    signature_algorithm,
  } as const;
}
