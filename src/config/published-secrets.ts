/** Secrets in files of this repository or of its earlier versions. Anybody can read them, so production rejects them. */
const PUBLISHED = [
  'SB-Mid-server-local', // the server key of the payment simulator
  'SB-Mid-server-of-the-tests',
  'SB-Mid-server-of-the-benchmark',
  'SB-Mid-server-theKeyOfThisTest',
  'SB-Mid-server-anotherKey',
  'SB-Mid-server-x',
  'SB-Mid-server-TOq1a2AVuiyhhOjvfs3U', // from Midtrans' documentation, used in the tests
  'a676b67565c6767a6767d6767f676fe1', // from Cloudinary's documentation, used in the tests
  'of-this-compose-file-alone-access-key',
  'of-this-compose-file-alone-refresh-key',
  'access secret of the tests, 32 characters or more',
  'refresh secret of the tests, 32 characters or more',
  'the access secret of the benchmark, no other',
  'the refresh secret of the benchmark, no other',
  'nothing is signed while the document is written: 1',
  'nothing is signed while the document is written: 2',
  'another key, which is long enough for anything',
  'open sesame', // the administrator's password in the README
  'the admin password',
  'kue lapis',
  'kue lapis legit',
  'correct horse',
  'correct horse battery staple',
  'nastar dan kastengel',
  'chosen by the owner',
  'a secret password',
  'thisIsTheApiSecret',
  'secret-word',
  'spaces count',
  'secret', // the secret in the examples of CLOUDINARY_URL
  'bakery', // the database's password in docker-compose.yml
];

export function isPublished(secret: string): boolean {
  const text = secret.trim().toLowerCase();
  return PUBLISHED.some((published) => published.toLowerCase() === text);
}
