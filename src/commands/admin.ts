import { Injectable } from '@nestjs/common';
import { AdminAccountsService, type RoleChangeResult } from '../auth/admin-accounts.service.js';
import { AuthModule } from '../auth/auth.module.js';
import type { Role } from '../common/access.js';
import { withAsciiDomain } from '../common/validation/email-address.decorator.js';
import { UsersModule } from '../users/users.module.js';
import { UsersService } from '../users/users.service.js';
import { type Command, readAction, readArgs, runCommand, UsageError } from './command-line.js';
import { withServices } from './with-services.js';

const HELP = `Grants and revokes administrator access.

  npm run admin -- list                          lists all administrators
  npm run admin -- grant EMAIL [--unverified]    makes an account an administrator
  npm run admin -- revoke EMAIL                  makes an administrator an ordinary user, except the last one

--unverified   required if the account has not verified its email address: anybody may have registered it

The command uses the settings of the service and can be used while the service runs. A change ends all sessions of the
account and applies immediately: a revoked administrator's next request to an administrator route is rejected.
Exit codes: 0 done (also if there was nothing to change), 1 not done, 2 wrong usage.
`;

const EMAIL_DESCRIPTION = 'the email address of an account';

const RESULT_TEXTS: Readonly<Record<RoleChangeResult, string>> = {
  changed: 'done',
  unchanged: 'there was nothing to change',
  'unknown account': 'there is no account with this email address',
  'unverified email':
    'the account has not verified this email address, so anybody may have registered it; if you know that the ' +
    'account is yours, repeat the command with --unverified',
  'last administrator': 'this is the last administrator; grant access to another account first',
};

@Injectable()
class AdminCommand {
  constructor(
    private readonly users: UsersService,
    private readonly accounts: AdminAccountsService,
  ) {}

  async list(): Promise<void> {
    const admins = await this.users.findAdmins();
    for (const { id, email, fullname } of admins) console.log(`${id}\t${email}\t${fullname}`);
    if (admins.length === 0) console.log('there is no administrator');
  }

  async changeRole(email: string, role: Role, options: { readonly mayBeUnverified: boolean }): Promise<void> {
    const result = await this.accounts.changeRole(withAsciiDomain(email), role, options);
    const text = `${email}: ${RESULT_TEXTS[result]}`;
    if (result !== 'changed' && result !== 'unchanged') throw new Error(text);
    console.log(text);
  }
}

function parse(args: string[]): Command {
  const { positionals, values } = readArgs({
    args,
    allowPositionals: true,
    options: { unverified: { type: 'boolean', default: false } },
  });
  const { action, argument: email } = readAction(positionals, {
    list: null,
    grant: EMAIL_DESCRIPTION,
    revoke: EMAIL_DESCRIPTION,
  });
  if (values.unverified && action !== 'grant') throw new UsageError('--unverified is an option of grant');
  return withServices(AdminCommand, { imports: [UsersModule, AuthModule] }, (command) => {
    if (action === 'list') return command.list();
    const role = action === 'grant' ? 'ADMIN' : 'USER';
    return command.changeRole(email, role, { mayBeUnverified: values.unverified });
  });
}

runCommand(HELP, parse);
