import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CloudinaryStandIn } from '../../support/cloudinary-stand-in.js';
import { nullIfMissing } from '../../support/files.js';
import { MidtransStandIn } from '../../support/midtrans-stand-in.js';
import { gatewaySettings } from '../../support/orders.js';
import { SmtpStandIn } from '../../support/smtp-stand-in.js';

/** Stand-ins for the image host, the gateway and the mail server. They keep running when the service is killed. */
export type ExternalServices = Awaited<ReturnType<typeof startExternalServices>>;

export async function startExternalServices() {
  const cloudinary = await CloudinaryStandIn.start();
  const gateway = await MidtransStandIn.start();
  const smtp = await SmtpStandIn.start();
  const settings = {
    ...gatewaySettings(gateway),
    CLOUDINARY_URL: cloudinary.url,
    SMTP_URL: smtp.url,
    // Lets tests choose client IP addresses with X-Forwarded-For, because each can request only 100 codes an hour.
    TRUSTED_PROXIES: '1',
  };
  return { cloudinary, gateway, smtp, settings };
}

/** Returns the digests of all images by id: those at Cloudinary and those that the service has stored in its DATA_DIR. */
export async function readImageDigests({ images }: CloudinaryStandIn, dataDir: string) {
  const digests = new Map([...images].map(([id, { bytes }]) => [id, hashImage(bytes)]));
  const folder = join(dataDir, 'images');
  // The service creates the folder with the first image.
  const entries = await nullIfMissing(readdir(folder, { recursive: true, withFileTypes: true }));
  for (const entry of (entries ?? []).filter((file) => file.isFile())) {
    // The service may have removed the file in the meantime.
    const bytes = await nullIfMissing(readFile(join(entry.parentPath, entry.name)));
    // A file with another ending counts too, because the service must leave no file behind.
    if (bytes !== null) digests.set(entry.name.replace(/\.(png|jpg)$/, ''), hashImage(bytes));
  }
  return digests;
}

export function hashImage(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Returns the id of the image at a URL of Cloudinary or of the service. Returns any other URL unchanged. */
export function parseImageId(url: string): string {
  return /([0-9a-f-]{36})\.(png|jpg)$/.exec(url)?.[1] ?? url;
}
