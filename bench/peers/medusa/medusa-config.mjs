/** Configuration of a Medusa shop without its admin interface. The modules without Redis are its defaults. */
import { defineConfig } from '@medusajs/framework/utils';

export default defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    databaseDriverOptions: { connection: { ssl: false } },
    http: {
      storeCors: 'http://localhost:8000',
      adminCors: 'http://localhost:8000',
      authCors: 'http://localhost:8000',
      jwtSecret: process.env.BENCH_SECRET,
      cookieSecret: process.env.BENCH_SECRET,
    },
  },
  admin: { disable: true },
});
