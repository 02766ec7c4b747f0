import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { failures } from '../common/errors.js';
import { Public } from '../common/public.decorator.js';
import { ImageHosts } from './image-hosts.js';

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

@ApiTags('Images')
@Public(true)
@Controller('images')
export class ImagesController {
  constructor(private readonly hosts: ImageHosts) {}

  @Get(':name')
  @ApiOperation({ summary: 'An image of the local image host' })
  @ApiOkResponse({
    content: {
      'image/png': { schema: { type: 'string', format: 'binary' } },
      'image/jpeg': { schema: { type: 'string', format: 'binary' } },
    },
  })
  async show(@Param('name') name: string, @Res() response: Response): Promise<void> {
    const image = await this.hosts.local.open(name);
    if (image === null) throw failures.notFound();
    // Storefronts are other origins; the global policy would keep them from showing the picture.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    response.type(image.contentType);
    await new Promise<void>((resolve, reject) => {
      // A name is never used twice, so a copy may be kept for ever.
      const options = { maxAge: YEAR_MS, immutable: true, dotfiles: 'allow' } as const;
      response.sendFile(image.path, options, (error?: Error) => {
        if (error === undefined || response.destroyed) resolve();
        else reject(error);
      });
    });
  }
}
