import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { measureCall } from '../common/observability/metrics.js';
import { Env } from '../config/env.js';
import { CloudinaryImageHost } from './cloudinary.image-host.js';
import { type ImageFile, type ImageHost, isRejection } from './image-host.js';
import type { ImageHostName } from './image.entity.js';
import { LocalImageHost } from './local.image-host.js';

/** The configured image hosts. `IMAGE_HOST` selects the host of new images, which is always configured. */
@Injectable()
export class ImageHosts {
  readonly local: LocalImageHost;
  readonly #cloudinary: ImageHost | undefined;

  constructor({ dataDir, cloudinaryUrl }: Env) {
    this.local = new LocalImageHost(join(dataDir, 'images'));
    if (cloudinaryUrl !== undefined) this.#cloudinary = new CloudinaryImageHost(cloudinaryUrl);
  }

  async upload(name: ImageHostName, imageId: string, image: ImageFile): Promise<string> {
    const host = this.#getHost(name);
    return measureCall('image_host', 'upload', () => host.upload(imageId, image), isRejection);
  }

  async remove(name: ImageHostName, imageId: string): Promise<void> {
    const host = this.#getHost(name);
    await measureCall('image_host', 'remove', () => host.remove(imageId), isRejection);
  }

  #getHost(name: ImageHostName): ImageHost {
    const host = name === 'local' ? this.local : this.#cloudinary;
    if (host === undefined)
      throw new Error('CLOUDINARY_URL is needed to remove an image that is stored at Cloudinary');
    return host;
  }
}
