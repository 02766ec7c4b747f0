import { promisify } from 'node:util';
import { Controller, Get, Logger, Param, Query, Res } from '@nestjs/common';
import { ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { errorCode, errorMessage } from '../common/errors/error-info.js';
import { failures } from '../common/errors/failures.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { ImageHosts } from './image-hosts.js';

/** A name is never used twice, so caches may store a copy forever. */
const CACHING = { maxAge: '365d', immutable: true } as const;
/** Caching of an image that is sent because its smaller version could not be created: that may succeed later. */
const FALLBACK_CACHING = { maxAge: '1m' } as const;

const SEND_OPTIONS = {
  // An image has at most 5 MiB and is always sent whole, which RFC 9110 section 14.2 allows.
  acceptRanges: false,
  // The data directory may be inside a folder whose name begins with a dot.
  dotfiles: 'allow',
} as const;

const WIDTHS = [480, 960];

@ApiTags('Images')
@Controller('images')
export class ImagesController {
  readonly #logger = new Logger('Images');

  constructor(private readonly hosts: ImageHosts) {}

  @ApiParam({ name: 'name', schema: { type: 'string' }, example: '0b8a4c6e-5d0f-4f2e-9c55-6f1f7e0a2b11.jpg' })
  @ApiQuery({ name: 'w', required: false, schema: { type: 'integer', enum: WIDTHS } })
  @ApiEndpoint({
    summary: 'Return an image of the local image host',
    description:
      'With `w`, the image has at most this width; it is never enlarged. Other values of `w` are ignored.',
    access: 'public',
    success: { status: 200, mediaTypes: ['image/png', 'image/jpeg'] },
    // Express checks `If-Match` and `If-Unmodified-Since`.
    failures: [failures.notFound(), failures.changedMeanwhile()],
  })
  @Get(':name')
  async show(
    @Param('name') name: string,
    @Res() response: Response,
    @Query('w') requestedWidth?: unknown,
  ): Promise<void> {
    const width = WIDTHS.find((possible) => String(possible) === requestedWidth);
    const { path, caching } = await this.#findFile(name, width);
    if (path === null) throw failures.notFound();
    // Storefronts have other origins. The global policy would stop them from showing the image.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    // A browser that treats the image as HTML must load and run nothing.
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    try {
      await promisify<string, object>(response.sendFile.bind(response))(path, {
        ...SEND_OPTIONS,
        ...caching,
      });
    } catch (error) {
      // Express uses this code for a client that closed the connection.
      if (errorCode(error) === 'ECONNABORTED') return;
      if (!response.headersSent) {
        // The failure has a type and a caching of its own.
        response.removeHeader('Content-Type');
        response.removeHeader('Cache-Control');
      }
      throw error;
    }
  }

  /** Finds the file of an image, or of its smaller version. Finds the image itself if that version cannot be created. */
  async #findFile(name: string, width: number | undefined) {
    const { local } = this.hosts;
    if (width === undefined) return { path: await local.find(name), caching: CACHING };
    try {
      return { path: await local.find(name, width), caching: CACHING };
    } catch (error) {
      this.#logger.warn(`image ${name} has no version of ${width} px: ${errorMessage(error)}`);
      return { path: await local.find(name), caching: FALLBACK_CACHING };
    }
  }
}
