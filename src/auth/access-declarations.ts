import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Access } from '../common/access.decorator.js';

type Handlers = Readonly<Record<string, () => unknown>>;

/** Stops the start of a service that has a route without a declared access. */
@Injectable()
export class AccessDeclarations implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const undeclared = this.discovery
      .getControllers()
      .flatMap(({ metatype }) => this.#findUndeclared(metatype as Type));
    if (undeclared.length === 0) return;
    const problem = 'every route must declare who may call it, with @ApiEndpoint({ access }) or @Access()';
    throw new Error(`${problem}: ${undeclared.join(', ')}`);
  }

  #findUndeclared(controller: Type): string[] {
    if (Reflect.hasMetadata(Access.KEY, controller)) return [];
    const handlers = controller.prototype as Handlers;
    const isUndeclared = (handler: object | undefined) =>
      handler !== undefined &&
      Reflect.hasMetadata(METHOD_METADATA, handler) &&
      !Reflect.hasMetadata(Access.KEY, handler);
    return this.scanner
      .getAllMethodNames(handlers)
      .filter((name) => isUndeclared(handlers[name]))
      .map((name) => `${controller.name}.${name}`);
  }
}
