import { AdminAccountsService, type RoleChange } from '../auth/admin-accounts.service.js';
import { UsersModule } from '../users/users.module.js';
import { type Action, type ExitCode, readAction, readArgs, runCommand } from './command-line.js';
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
  if (action === 'list') return withAccounts(list);
  return withAccounts(async (accounts) => report(argument, await accounts[action](argument)));
}

function withAccounts(act: (accounts: AdminAccountsService) => Promise<ExitCode>): Action {
  const parts = { imports: [UsersModule], providers: [AdminAccountsService] };
  return (env, database) =>
    withServices(env, database, parts, (services) => act(services.get(AdminAccountsService)));
}

async function list(accounts: AdminAccountsService): Promise<ExitCode> {
  const admins = await accounts.list();
  for (const { id, email, fullname } of admins) process.stdout.write(`${id}\t${email}\t${fullname}\n`);
  if (admins.length === 0) process.stdout.write('there is no administrator\n');
  return 0;
}

const REPORTS: Readonly<Record<RoleChange, { readonly text: string; readonly exitCode: ExitCode }>> = {
  changed: { text: 'done', exitCode: 0 },
  unchanged: { text: 'it already was so', exitCode: 0 },
  'unknown account': { text: 'there is no account with this e-mail', exitCode: 1 },
  'last administrator': { text: 'it is the last administrator; grant another one first', exitCode: 1 },
};

function report(email: string, change: RoleChange): ExitCode {
  const { text, exitCode } = REPORTS[change];
  (exitCode === 0 ? process.stdout : process.stderr).write(`${email}: ${text}\n`);
  return exitCode;
}

runCommand(HELP, parse);
