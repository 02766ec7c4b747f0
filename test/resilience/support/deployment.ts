import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceInstance } from '../../support/service-process.js';
import { type ExternalServices, startExternalServices } from './external-services.js';

/** Instances of the service that share one DATA_DIR, with stand-ins for external services. */
export class Deployment {
  private constructor(
    readonly instances: readonly [ServiceInstance, ...ServiceInstance[]],
    readonly external: ExternalServices,
  ) {}

  /** Starts no process of the service. The stand-ins for Cloudinary and the gateway respond after random delays. */
  static async create(size = 1): Promise<Deployment> {
    const external = await startExternalServices();
    const first = await ServiceInstance.create();
    const others = Array.from({ length: size - 1 }, () => ServiceInstance.create(first.dataDir));
    external.cloudinary.beforeResponse = () => delay(randomInt(150));
    external.gateway.beforeResponse = () => delay(randomInt(60));
    return new Deployment([first, ...(await Promise.all(others))], external);
  }

  output(): string {
    return this.instances.map((instance) => instance.output()).join('');
  }
}
