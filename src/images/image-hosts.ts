import { Injectable } from '@nestjs/common';
import { join } from 'node:path';
import { timedCall } from '../common/metrics.js';
import { Env } from '../config/env.js';
import { CloudinaryImageHost } from './cloudinary.image-host.js';
import { type ImageFile, type ImageHost, isRefusal } from './image-host.js';
import type { ImageHostName } from './image.entity.js';
import { LocalImageHost } from './local.image-host.js';

/** The hosts that the settings give: one for new images, the others for images that were stored there before. */
@Injectable()
export class ImageHosts {
  /** Where new images go. */
  readonly current: ImageHostName;
  readonly local: LocalImageHost;
  readonly #cloudinary: CloudinaryImageHost | undefined;

  constructor({ imageHost, dataDir, cloudinaryUrl }: Env) {
    this.current = imageHost;
    this.local = new LocalImageHost(join(dataDir, 'images'));
    if (cloudinaryUrl !== undefined) this.#cloudinary = new CloudinaryImageHost(cloudinaryUrl);
  }

  /** @returns see `ImageHost.upload` */
  upload(publicId: string, image: ImageFile): Promise<string> {
    const host = this.#host(this.current);
    return timedCall('image_host', 'upload', () => host.upload(publicId, image), isRefusal);
  }

  /** @throws Error also when the settings no longer name the host */
  async remove(name: ImageHostName, publicId: string): Promise<void> {
    const host = this.#host(name);
    await timedCall('image_host', 'remove', () => host.remove(publicId), isRefusal);
  }

  #host(name: ImageHostName): ImageHost {
    const host = name === 'local' ? this.local : this.#cloudinary;
    if (host === undefined) throw new Error('CLOUDINARY_URL is needed for an image that is stored there');
    return host;
  }
}
