import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tries again to create the extension pg_trgm and the index of product names, which find similar names. A server without the
 * extension finds only names that contain all words. Adds an index for the deletion of products, which looks for their images.
 */
export class CatalogSearch1766441000000 implements MigrationInterface {
  readonly name = 'CatalogSearch1766441000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX images_product_id_idx ON images (product_id) WHERE product_id IS NOT NULL;
      DO $$ BEGIN
        CREATE EXTENSION IF NOT EXISTS pg_trgm;
        CREATE INDEX IF NOT EXISTS products_search_name_idx ON products USING gin (search_name gin_trgm_ops);
      EXCEPTION WHEN feature_not_supported OR undefined_file OR insufficient_privilege OR undefined_object THEN
        RAISE NOTICE 'the search finds no similar names: %', SQLERRM;
      END $$;
    `);
  }

  /** Keeps the extension and its index, which earlier versions use too. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX images_product_id_idx');
  }
}
