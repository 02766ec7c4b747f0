import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;

/** Runs `act` on a separate connection. Uncommitted changes are rolled back at the end. */
export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'bakery-connection',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // Without a listener, a lost connection would end the process. The running statement fails, or the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await act(client);
  } finally {
    await client.end();
  }
}
