/** Secrets that files of this repository show, or showed in version 1.0. Anybody can read them. */
const PUBLISHED: ReadonlySet<string> = new Set([
  'SB-Mid-server-local', // the simulator's key
  'SB-Mid-server-of-the-tests',
  'SB-Mid-server-of-the-benchmark',
  'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U', // an example of Midtrans' documentation, in the tests
  'of-this-compose-file-alone-access-key',
  'of-this-compose-file-alone-refresh-key',
  'access secret of the tests, 32 characters or more',
  'refresh secret of the tests, 32 characters or more',
  'the access secret of the benchmark, no other',
  'the refresh secret of the benchmark, no other',
  'open sesame', // the administrator's password of the README
  'the admin password',
  'bakery', // the database's password of docker-compose.yml
]);

/** Whether a secret must not be used in production because a file of this repository publishes it. */
export function isPublished(secret: string): boolean {
  return PUBLISHED.has(secret.trim());
}
