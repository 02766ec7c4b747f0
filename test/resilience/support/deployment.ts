import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceInstance } from '../../support/service-process.js';
import { startExternalServices } from './external-services.js';

/** Instances of the service that share one DATA_DIR, with stand-ins for external services. */
export type Deployment = Awaited<ReturnType<typeof createDeployment>>;

/** Starts no process of the service. The stand-ins for Cloudinary and the gateway respond after random delays. */
export async function createDeployment(size = 1) {
  const external = await startExternalServices();
  external.cloudinary.beforeResponse = () => delay(randomInt(150));
  external.gateway.beforeResponse = () => delay(randomInt(60));
  const instances: [ServiceInstance, ...ServiceInstance[]] = [await ServiceInstance.create()];
  while (instances.length < size) instances.push(await ServiceInstance.create(instances[0].dataDir));
  return {
    instances,
    external,
    output: () => instances.map((instance) => instance.output()).join(''),
  };
}
