import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { FormQueue } from './form.interceptor.js';
import { ImageHosts } from './image-hosts.js';
import { ImageRemovalService } from './image-removal.service.js';
import { Image } from './image.entity.js';
import { ImagesController } from './images.controller.js';
import { ImagesService } from './images.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Image]), JobsModule],
  controllers: [ImagesController],
  providers: [FormQueue, ImageHosts, ImageRemovalService, ImagesService],
  exports: [FormQueue, ImageRemovalService, ImagesService],
})
export class ImagesModule {}
