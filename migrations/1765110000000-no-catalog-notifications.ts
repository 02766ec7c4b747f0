import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CatalogNotifications1764000000000 } from './1764000000000-catalog-notifications.js';

/** Removes the notifications of changed products: no process listens, because cached pages expire after a second. */
export class NoCatalogNotifications1765110000000 implements MigrationInterface {
  readonly name = 'NoCatalogNotifications1765110000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION notify_product_changes() CASCADE');
  }

  async down(runner: QueryRunner): Promise<void> {
    await new CatalogNotifications1764000000000().up(runner);
  }
}
