import { Injectable, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { Access } from '../common/access.js';

type Handler = () => unknown;

/** Stops the start of the service if a route declares no access. */
@Injectable()
export class RouteAccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    for (const { metatype } of this.discovery.getControllers()) {
      if (typeof metatype !== 'function') continue;
      const methods = metatype.prototype as Readonly<Record<string, Handler>>;
      for (const name of this.scanner.getAllMethodNames(methods)) {
        const handler = methods[name];
        if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) continue;
        const access: unknown = this.reflector.getAllAndOverride(Access, [handler, metatype]);
        if (access === undefined) throw new Error(`${metatype.name}.${name} declares no access`);
      }
    }
  }
}
