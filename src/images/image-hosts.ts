import { Injectable } from '@nestjs/common';
import { join } from 'node:path';
import { Env } from '../config/env.js';
import { CloudinaryImageHost } from './cloudinary.image-host.js';
import type { ImageHost } from './image-host.js';
import type { ImageHostName } from './image.entity.js';
import { LocalImageHost } from './local.image-host.js';

/** The hosts that the settings give: one for new images, the others for what was stored with them before. */
@Injectable()
export class ImageHosts {
  /** Where new images go. */
  readonly current: ImageHostName;
  readonly local: LocalImageHost;
  readonly #cloudinary: CloudinaryImageHost | undefined;

  constructor(env: Env) {
    this.current = env.imageHost;
    this.local = new LocalImageHost({ directory: join(env.dataDir, 'images'), publicUrl: env.publicUrl });
    if (env.cloudinaryUrl !== undefined) {
      this.#cloudinary = new CloudinaryImageHost({ cloudinaryUrl: env.cloudinaryUrl });
    }
  }

  /** @throws Error when an image lies at a host that the settings no longer name */
  get(name: ImageHostName): ImageHost {
    const host = name === 'local' ? this.local : this.#cloudinary;
    if (host === undefined) throw new Error('CLOUDINARY_URL is needed for an image that is stored there');
    return host;
  }

  /** Closes kept connections. */
  onApplicationShutdown(): void {
    this.#cloudinary?.onApplicationShutdown();
  }
}
