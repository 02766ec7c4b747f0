import { createHash, randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CloudinaryStandIn } from '../../support/cloudinary-stand-in.js';
import { MidtransStandIn } from '../../support/midtrans-stand-in.js';
import { gatewaySettings } from '../../support/orders.js';
import { SmtpStandIn } from '../../support/smtp-stand-in.js';

/** Stand-ins of the image host, the gateway and the mail server. They continue while processes of the service are killed. */
export class ExternalServices {
  private constructor(
    readonly cloudinary: CloudinaryStandIn,
    readonly gateway: MidtransStandIn,
    readonly smtp: SmtpStandIn,
    /** DATA_DIR of the service, which contains the images that the service stores locally. */
    private readonly dataDir: string,
  ) {}

  /** Starts stand-ins. The image host and the gateway delay each response by a random time. */
  static async start(dataDir: string): Promise<ExternalServices> {
    const [cloudinary, gateway, smtp] = await Promise.all([
      CloudinaryStandIn.start(),
      MidtransStandIn.start(),
      SmtpStandIn.start(),
    ]);
    cloudinary.beforeAnswering = () => delay(randomInt(150));
    gateway.beforeAnswering = () => delay(randomInt(60));
    return new ExternalServices(cloudinary, gateway, smtp, dataDir);
  }

  get settings(): Record<string, string> {
    return {
      ...gatewaySettings(this.gateway),
      CLOUDINARY_URL: this.cloudinary.url,
      SMTP_URL: this.smtp.url,
      // Behind nginx, registrations must count for the addresses of their clients: an address gets 100 codes an hour.
      TRUSTED_PROXIES: '1',
    };
  }

  /** Returns the digests of all images by id: those at Cloudinary and those in DATA_DIR. */
  async readImageDigests(): Promise<Map<string, string>> {
    const stored = new Map([...this.cloudinary.images].map(([id, { bytes }]) => [id, digestOf(bytes)]));
    const folder = join(this.dataDir, 'images');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((file) => file.isFile())) {
      // Reading fails if the service has removed the file in the meantime.
      const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => null);
      // A file with another ending counts too, because the service must leave no file behind.
      if (bytes !== null) stored.set(entry.name.replace(/\.(png|jpg)$/, ''), digestOf(bytes));
    }
    return stored;
  }

  async close(): Promise<void> {
    await Promise.all([this.cloudinary.down(), this.gateway.down(), this.smtp.down()]);
  }
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Returns the id of the image at a URL of Cloudinary or of the service. */
export function imageIdOf(url: string): string {
  return /([0-9a-f-]{36})\.(png|jpg)$/.exec(url)?.[1] ?? url;
}
