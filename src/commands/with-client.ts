import pg from 'pg';

/** Does something on a connection of its own. What is not committed by then is rolled back. */
export async function withClient<T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'bakery-command' });
  client.on('error', () => {
    // The statement that runs reports it; without a listener Node would end the process.
  });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
