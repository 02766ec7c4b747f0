declare global {
  /** `import` of Node's own loader. Set by `environment.mjs`, because Jest's loader cannot load the service. */
  var importWithNode: (specifier: string) => Promise<unknown>;
}

/** Types of the modules of the build that tests use. */
interface BuiltModules {
  'src/app.module.js': typeof import('../../src/app.module.js');
  'src/app.setup.js': typeof import('../../src/app.setup.js');
  'src/auth/admin-accounts.service.js': typeof import('../../src/auth/admin-accounts.service.js');
  'src/auth/attempt-counts.js': typeof import('../../src/auth/attempt-counts.js');
  'src/auth/auth.service.js': typeof import('../../src/auth/auth.service.js');
  'src/auth/client-turns.js': typeof import('../../src/auth/client-turns.js');
  'src/auth/limits.service.js': typeof import('../../src/auth/limits.service.js');
  'src/auth/passwords.js': typeof import('../../src/auth/passwords.js');
  'src/auth/route-access-check.js': typeof import('../../src/auth/route-access-check.js');
  'src/commands/backup/restore.js': typeof import('../../src/commands/backup/restore.js');
  'src/commands/backup/tables.js': typeof import('../../src/commands/backup/tables.js');
  'src/common/http/http-adapter.js': typeof import('../../src/common/http/http-adapter.js');
  'src/common/observability/logging.js': typeof import('../../src/common/observability/logging.js');
  'src/common/validation/validation.pipe.js': typeof import('../../src/common/validation/validation.pipe.js');
  'src/config/env.js': typeof import('../../src/config/env.js');
  'src/config/read-env.js': typeof import('../../src/config/read-env.js');
  'src/database/data-source.js': typeof import('../../src/database/data-source.js');
  'src/database/migrate.js': typeof import('../../src/database/migrate.js');
  'src/database/with-client.js': typeof import('../../src/database/with-client.js');
  'src/gateway/midtrans.gateway.js': typeof import('../../src/gateway/midtrans.gateway.js');
  'src/gateway/payment-gateway.js': typeof import('../../src/gateway/payment-gateway.js');
  'src/images/form.interceptor.js': typeof import('../../src/images/form.interceptor.js');
  'src/jobs/job-handler.js': typeof import('../../src/jobs/job-handler.js');
  'src/jobs/job-kinds.js': typeof import('../../src/jobs/job-kinds.js');
  'src/jobs/jobs.service.js': typeof import('../../src/jobs/jobs.service.js');
  'src/jobs/watch-queue.js': typeof import('../../src/jobs/watch-queue.js');
  'src/products/product-pages.js': typeof import('../../src/products/product-pages.js');
}

/** Types of the packages that tests share with the build. */
interface SharedPackages {
  '@nestjs/common': typeof import('@nestjs/common');
  '@nestjs/core': typeof import('@nestjs/core');
  '@nestjs/testing': typeof import('@nestjs/testing');
  'class-validator': typeof import('class-validator');
  'prom-client': typeof import('prom-client');
  typeorm: typeof import('typeorm');
}

export async function importBuilt<P extends keyof BuiltModules>(path: P): Promise<BuiltModules[P]> {
  return (await importWithNode(new URL(`../../dist/${path}`, import.meta.url).href)) as BuiltModules[P];
}

/** Imports the instance of a package that the build uses. A plain import would create another instance. */
export async function importPackage<P extends keyof SharedPackages>(name: P): Promise<SharedPackages[P]> {
  return (await importWithNode(name)) as SharedPackages[P];
}
