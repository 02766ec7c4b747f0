import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { promisify } from 'node:util';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { errorCode } from '../config/files.js';
import { ImageHosts } from './image-hosts.js';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const PICTURE_HEADERS = [
  'Cache-Control',
  'Content-Type',
  'Content-Length',
  'ETag',
  'Last-Modified',
  'Cross-Origin-Resource-Policy',
] as const;

@ApiTags('Images')
@Controller('images')
export class ImagesController {
  constructor(private readonly hosts: ImageHosts) {}

  @Get(':name')
  @ApiParam({ name: 'name', schema: { type: 'string' }, example: '0b8a4c6e-5d0f-4f2e-9c55-6f1f7e0a2b11.jpg' })
  @ApiEndpoint({
    summary: 'An image of the local image host',
    access: 'none',
    success: { status: 200, files: ['image/png', 'image/jpeg'] },
    failures: [failures.malformedRequest(), failures.notFound()],
  })
  async show(@Param('name') name: string, @Res() response: Response): Promise<void> {
    const path = await this.hosts.local.find(name);
    if (path === null) throw failures.notFound();
    // Storefronts are other origins; the global policy would keep them from showing the picture.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    // Opened by itself a picture is a document: one that loads and runs nothing, even if a browser takes it for HTML.
    response.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
    try {
      await promisify<string, object>(response.sendFile.bind(response))(path, SEND_OPTIONS);
    } catch (error) {
      // Express's code for a client that closed the connection.
      if (errorCode(error) === 'ECONNABORTED') return;
      // They describe the picture, not the failure that is answered instead of it.
      if (!response.headersSent) for (const name of PICTURE_HEADERS) response.removeHeader(name);
      throw error;
    }
  }
}

/** A picture is at most 5 MiB and always sent whole, which RFC 9110 section 14.2 allows. */
const SEND_OPTIONS = {
  // A name is never used twice, so a copy may be kept for ever.
  maxAge: YEAR_MS,
  immutable: true,
  acceptRanges: false,
  // The data directory may lie under one.
  dotfiles: 'allow',
} as const;
