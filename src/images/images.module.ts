import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { FORM_IDLE_MS } from './form.interceptor.js';
import { ImageHosts } from './image-hosts.js';
import { ImageRemovalService } from './image-removal.service.js';
import { Image } from './image.entity.js';
import { ImagesController } from './images.controller.js';
import { ImagesService } from './images.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Image]), JobsModule],
  controllers: [ImagesController],
  providers: [ImageHosts, ImageRemovalService, ImagesService, { provide: FORM_IDLE_MS, useValue: 15_000 }],
  exports: [FORM_IDLE_MS, ImageRemovalService, ImagesService],
})
export class ImagesModule {}
