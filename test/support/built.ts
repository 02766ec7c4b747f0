declare global {
  /** Loads a module of the build with Node's own loader, because Jest's loader cannot load the service. */
  var importBuilt: (path: string) => Promise<unknown>;
  /** Loads a package with Node's own loader, so that the package and the build use the same instance of Nest. */
  var importPackage: (name: string) => Promise<unknown>;
}

/** Types of the modules of the build that tests use. */
export interface BuiltModules {
  'src/app.module.js': typeof import('../../src/app.module.js');
  'src/app.setup.js': typeof import('../../src/app.setup.js');
  'src/auth/jwt-cookie.guard.js': typeof import('../../src/auth/jwt-cookie.guard.js');
  'src/auth/admin-accounts.service.js': typeof import('../../src/auth/admin-accounts.service.js');
  'src/commands/backup/restore.js': typeof import('../../src/commands/backup/restore.js');
  'src/common/calendar.js': typeof import('../../src/common/calendar.js');
  'src/common/http-adapter.js': typeof import('../../src/common/http-adapter.js');
  'src/common/metrics.js': typeof import('../../src/common/metrics.js');
  'src/common/logging.js': typeof import('../../src/common/logging.js');
  'src/common/limiter.js': typeof import('../../src/common/limiter.js');
  'src/config/database.js': typeof import('../../src/config/database.js');
  'src/config/read-env.js': typeof import('../../src/config/read-env.js');
  'src/config/migrate.js': typeof import('../../src/config/migrate.js');
  'src/shop/pickup-windows.js': typeof import('../../src/shop/pickup-windows.js');
  'src/common/access.decorator.js': typeof import('../../src/common/access.decorator.js');
  'src/products/products.controller.js': typeof import('../../src/products/products.controller.js');
  'src/products/product-pages.js': typeof import('../../src/products/product-pages.js');
  'src/jobs/watch-queue.js': typeof import('../../src/jobs/watch-queue.js');
  'src/jobs/jobs.service.js': typeof import('../../src/jobs/jobs.service.js');
  'src/images/form.interceptor.js': typeof import('../../src/images/form.interceptor.js');
  'src/images/images.service.js': typeof import('../../src/images/images.service.js');
}

export async function built<P extends keyof BuiltModules>(path: P): Promise<BuiltModules[P]> {
  return (await importBuilt(path)) as BuiltModules[P];
}
