import pg from 'pg';

/** Runs a task on a separate connection. Uncommitted changes are rolled back at the end. */
export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'bakery-command' });
  client.on('error', () => undefined); // The running statement reports the same error.
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
