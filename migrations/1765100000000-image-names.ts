import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Of an image of the local host only the file's name is kept, and its URL is made when it is read: the address of the
 * service (PUBLIC_URL) may change. URLs of the other host stay as they are.
 */
export class ImageNames1765100000000 implements MigrationInterface {
  readonly name = 'ImageNames1765100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE images SET url = substring(url from '[^/]+$') WHERE host = 'local' AND url LIKE '%/%'
    `);
  }

  /** The address is not known here: a path works for pages of the service's own origin. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE images SET url = '/api/images/' || url WHERE host = 'local' AND url IS NOT NULL
    `);
  }
}
