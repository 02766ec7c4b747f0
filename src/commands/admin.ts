import { AdminAccountsService, type RoleChange } from '../auth/admin-accounts.service.js';
import { SessionsModule } from '../auth/sessions.module.js';
import { withAsciiDomain } from '../config/ascii-domain.js';
import { UsersModule } from '../users/users.module.js';
import { type Account, UsersService } from '../users/users.service.js';
import { type Command, readAction, readArgs, runCommand } from './command-line.js';
import { print } from './output.js';
import { withServices } from './with-services.js';

const HELP = `Grants and revokes administrator access.

  npm run admin -- list             lists all administrators
  npm run admin -- grant EMAIL      makes an account an administrator
  npm run admin -- revoke EMAIL     makes an administrator an ordinary user; the last administrator cannot be revoked

The command uses the settings of the service and can be used while the service runs. A change ends all sessions of the
account and applies immediately: a revoked administrator's next request to an administrator route is rejected.
Exit codes: 0 done (also if there was nothing to change), 1 not done, 2 wrong usage.
`;

const EMAIL = 'the e-mail address of an account';

function parse(args: string[]): Command {
  const { positionals } = readArgs({ args, allowPositionals: true });
  const { action, argument } = readAction(positionals, { list: null, grant: EMAIL, revoke: EMAIL });
  const parts = { imports: [UsersModule, SessionsModule], providers: [AdminAccountsService] };
  return async (env, open) =>
    withServices(env, await open(), parts, async (services) => {
      if (action === 'list') list(await services.get(UsersService).findAdmins());
      else {
        const role = action === 'grant' ? 'ADMIN' : 'USER';
        const accounts = services.get(AdminAccountsService);
        report(argument, await accounts.changeRole(withAsciiDomain(argument), role));
      }
    });
}

function list(admins: readonly Account[]): void {
  for (const { id, email, fullname } of admins) print(`${id}\t${email}\t${fullname}`);
  if (admins.length === 0) print('there is no administrator');
}

const REPORTS: Readonly<Record<RoleChange, string>> = {
  changed: 'done',
  unchanged: 'there was nothing to change',
  'unknown account': 'there is no account with this e-mail address',
  'last administrator': 'this is the last administrator; grant access to another account first',
};

function report(email: string, change: RoleChange): void {
  const text = `${email}: ${REPORTS[change]}`;
  if (change === 'unknown account' || change === 'last administrator') throw new Error(text);
  print(text);
}

runCommand(HELP, parse);
