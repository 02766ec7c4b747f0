import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the URL of each local image by its file name, because the address of the service (PUBLIC_URL) may change. The
 * service builds the URL when it reads the image. URLs of images at Cloudinary stay.
 */
export class ImageNames1765100000000 implements MigrationInterface {
  readonly name = 'ImageNames1765100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE images SET url = substring(url from '[^/]+$') WHERE host = 'local' AND url LIKE '%/%'
    `);
  }

  /** Builds URLs without PUBLIC_URL, which is unknown here. They work on pages of the service's own origin. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE images SET url = '/api/images/' || url WHERE host = 'local' AND url IS NOT NULL
    `);
  }
}
