import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { ImageHosts } from './image-hosts.js';
import { Image } from './image.entity.js';
import { ImagesController } from './images.controller.js';
import { ImagesService } from './images.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Image]), JobsModule],
  controllers: [ImagesController],
  providers: [ImageHosts, ImagesService],
  exports: [ImagesService],
})
export class ImagesModule {}
