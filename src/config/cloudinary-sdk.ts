import { createRequire } from 'node:module';
import type { v2 } from 'cloudinary';

/** What a CLOUDINARY_URL says. */
export interface CloudinaryAccount {
  readonly cloudName: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Base address of the upload API, without a trailing slash. */
  readonly uploadPrefix: string;
  /** Set per account in Cloudinary's console. */
  readonly signatureAlgorithm: 'sha1' | 'sha256';
}

export type CloudinaryUploader = typeof v2.uploader;

const FORM =
  'CLOUDINARY_URL must be cloudinary://<api key>:<api secret>@<cloud name>, optionally with ' +
  '?upload_prefix=<http or https address> and signature_algorithm=<sha1 or sha256>';

/**
 * Reads the SDK's own form, `cloudinary://key:secret@cloud?upload_prefix=…&signature_algorithm=…`. Other
 * query parameters of the SDK concern delivery addresses, which this service does not build.
 *
 * @throws Error on any other form; its message repeats nothing of the text, which holds a secret
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
    cloudName: decode(url.hostname) ?? url.hostname,
    apiKey,
    apiSecret,
    uploadPrefix: uploadPrefix.replace(/\/+$/, ''),
    signatureAlgorithm,
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

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // A lone "%": the caller refuses the whole text.
  }
}

/**
 * The SDK's uploader. The SDK decides between http and https once, while it loads, from the `upload_prefix`
 * in `process.env.CLOUDINARY_URL`; this is why the variable is set while it loads, and why this lives beside
 * the settings. What is set then holds no credentials: they go with every call.
 *
 * @throws Error if the SDK was already loaded in this process for the other protocol
 */
export function loadCloudinaryUploader({ cloudName, uploadPrefix }: CloudinaryAccount): CloudinaryUploader {
  const protocol = new URL(uploadPrefix).protocol;
  loaded ??= { protocol, uploader: load(cloudName, uploadPrefix) };
  if (loaded.protocol !== protocol) {
    throw new Error(`the Cloudinary SDK was loaded for ${loaded.protocol} and cannot serve ${protocol} too`);
  }
  return loaded.uploader;
}

let loaded: { protocol: string; uploader: CloudinaryUploader } | undefined;

function load(cloudName: string, uploadPrefix: string): CloudinaryUploader {
  const before = process.env.CLOUDINARY_URL;
  process.env.CLOUDINARY_URL = `cloudinary://${encodeURIComponent(cloudName)}?upload_prefix=${encodeURIComponent(uploadPrefix)}`;
  try {
    // Loaded synchronously, so that no other code ever sees the changed variable.
    const sdk = createRequire(import.meta.url)('cloudinary') as { v2: { uploader: CloudinaryUploader } };
    return sdk.v2.uploader;
  } finally {
    if (before === undefined) delete process.env.CLOUDINARY_URL;
    else process.env.CLOUDINARY_URL = before;
  }
}
