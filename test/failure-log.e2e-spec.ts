import { PASSWORD } from './support/accounts.js';
import { expectFailure, MESSAGES } from './support/failure.js';
import { useService } from './support/service.js';

const service = useService();

it('an unexpected database failure is logged without the parameters of the statement', async () => {
  await service.database.query(`
    CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no accounts today'; END $$;
    CREATE TRIGGER reject BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION reject();
  `);
  const account = { email: 'private@example.com', fullname: 'Very Private', password: PASSWORD };
  const response = await service.client().register(account);
  expectFailure(response, 500, MESSAGES.unexpected);
  const requestId = response.headers['x-request-id'];
  const line = service.log.find((entry) => entry.level === 'error' && entry.requestId === requestId);
  expect(line).toMatchObject({ msg: 'no accounts today' });
  const log = JSON.stringify(service.log);
  for (const secret of [...Object.values(account), '$argon2id$']) expect(log).not.toContain(secret);
});
