/** What a CLOUDINARY_URL says, under the names of the SDK's options. */
export interface CloudinaryAccount {
  readonly cloud_name: string;
  readonly api_key: string;
  readonly api_secret: string;
  /** Base address of the upload API, without a trailing slash. */
  readonly upload_prefix: string;
  /** Set per account in Cloudinary's console. */
  readonly signature_algorithm: 'sha1' | 'sha256';
}

const FORM = 'CLOUDINARY_URL must be cloudinary://<api key>:<api secret>@<cloud name>';

/**
 * Reads the SDK's own form, `cloudinary://key:secret@cloud?upload_prefix=…&signature_algorithm=…`. Other
 * query parameters of the SDK concern delivery addresses, which this service does not build.
 *
 * @throws Error on any other form; its message does not repeat the text, which holds a secret
 */
export function parseCloudinaryUrl(text: string): CloudinaryAccount {
  // Not `new URL` in a try block: the error that it throws carries the whole text in `input`.
  if (!URL.canParse(text)) throw new Error(FORM);
  const url = new URL(text);
  const apiKey = decode(url.username);
  const apiSecret = decode(url.password);
  const uploadPrefix = url.searchParams.get('upload_prefix') ?? 'https://api.cloudinary.com';
  const signatureAlgorithm = url.searchParams.get('signature_algorithm') ?? 'sha1';
  if (
    url.protocol !== 'cloudinary:' ||
    url.hostname === '' ||
    url.port !== '' ||
    !apiKey ||
    !apiSecret ||
    !/^https?:\/\//.test(uploadPrefix) ||
    !URL.canParse(uploadPrefix) ||
    (signatureAlgorithm !== 'sha1' && signatureAlgorithm !== 'sha256')
  ) {
    throw new Error(FORM);
  }
  return {
    cloud_name: decode(url.hostname) ?? url.hostname,
    api_key: apiKey,
    api_secret: apiSecret,
    upload_prefix: uploadPrefix.replace(/\/+$/, ''),
    signature_algorithm: signatureAlgorithm,
  };
}

/** Whether a text has that form, for the validation of the settings. */
export function isCloudinaryUrl(text: string): boolean {
  try {
    parseCloudinaryUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** @returns null for a text with a lone "%", which the caller refuses */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
