import { AdminAccountsService, type RoleChange } from '../auth/admin-accounts.service.js';
import { UsersModule } from '../users/users.module.js';
import { type Action, readAction, readArgs, runCommand, say } from './command-line.js';
import { withServices } from './with-services.js';

const HELP = `Who is an administrator.

  npm run admin -- list             every administrator
  npm run admin -- grant EMAIL      makes an account an administrator
  npm run admin -- revoke EMAIL     makes it an ordinary one again; never the last administrator

It uses the same settings as the service and may be used while the service runs. A change ends the account's
session; an access token that is out keeps its old role for at most 10 minutes.
Exit codes: 0 done (also when there was nothing to change), 1 not done, 2 wrong use.
`;

const EMAIL = 'the e-mail of an account';

function parse(args: readonly string[]): Action {
  const { positionals } = readArgs({ args: [...args], allowPositionals: true });
  const { action, argument } = readAction(positionals, { list: null, grant: EMAIL, revoke: EMAIL });
  const parts = { imports: [UsersModule], providers: [AdminAccountsService] };
  return (env, database) =>
    withServices(env, database, parts, async (services) => {
      const accounts = services.get(AdminAccountsService);
      if (action === 'list') await list(accounts);
      else report(argument, await accounts[action](argument));
    });
}

async function list(accounts: AdminAccountsService): Promise<void> {
  const admins = await accounts.list();
  for (const { id, email, fullname } of admins) say(`${id}\t${email}\t${fullname}`);
  if (admins.length === 0) say('there is no administrator');
}

const REPORTS: Readonly<Record<RoleChange, string>> = {
  changed: 'done',
  unchanged: 'it already was so',
  'unknown account': 'there is no account with this e-mail',
  'last administrator': 'it is the last administrator; grant another one first',
};

function report(email: string, change: RoleChange): void {
  const text = `${email}: ${REPORTS[change]}`;
  if (change === 'unknown account' || change === 'last administrator') throw new Error(text);
  say(text);
}

runCommand(HELP, parse);
