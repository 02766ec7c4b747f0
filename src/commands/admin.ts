import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AdminAccountsService, type RoleChange } from '../auth/admin-accounts.service.js';
import { DatabaseModule } from '../config/database.module.js';
import { EnvModule } from '../config/env.module.js';
import { loadDotEnv, readEnv } from '../config/env.js';
import { migrate } from '../config/migrate.js';
import { openRunningDatabase } from '../config/open-database.js';
import { UsersModule } from '../users/users.module.js';

const HELP = `Who is an administrator.

  npm run admin -- list             every administrator
  npm run admin -- grant EMAIL      makes an account an administrator
  npm run admin -- revoke EMAIL     makes it an ordinary one again; never the last administrator

It uses the same settings as the service and may be used while the service runs. A change ends the account's
session; an access token that is out keeps its old role for at most 10 minutes.
Exit codes: 0 done (also when there was nothing to change), 1 not done, 2 wrong use.
`;

/** Only what the command needs: no queue, no sweep, no routes. */
@Module({})
class AdminCommandModule {}

async function run(args: readonly string[]): Promise<number> {
  const [action, email, ...rest] = args;
  const isList = action === 'list' && email === undefined;
  const isChange = (action === 'grant' || action === 'revoke') && email !== undefined;
  if (rest.length > 0 || (!isList && !isChange)) {
    const isHelp = action === 'help' || action === '--help' || action === '-h';
    (isHelp ? process.stdout : process.stderr).write(HELP);
    return isHelp ? 0 : 2;
  }

  loadDotEnv();
  const env = readEnv();
  const database = await openRunningDatabase(env, () => undefined);
  try {
    await migrate(database.url);
    const app = await NestFactory.createApplicationContext(
      {
        module: AdminCommandModule,
        imports: [EnvModule.forRoot(env, database), DatabaseModule.forRoot(database.url), UsersModule],
        providers: [AdminAccountsService],
      },
      { logger: ['error', 'fatal'], abortOnError: false },
    );
    try {
      const accounts = app.get(AdminAccountsService);
      if (isList) return await list(accounts);
      return report(
        email ?? '',
        await (action === 'grant' ? accounts.grant(email ?? '') : accounts.revoke(email ?? '')),
      );
    } finally {
      await app.close();
    }
  } finally {
    await database.close();
  }
}

async function list(accounts: AdminAccountsService): Promise<number> {
  const admins = await accounts.list();
  for (const { id, email, fullname } of admins) process.stdout.write(`${id}\t${email}\t${fullname}\n`);
  if (admins.length === 0) process.stdout.write('there is no administrator\n');
  return 0;
}

const REPORTS: Readonly<Record<RoleChange, { readonly text: string; readonly exitCode: number }>> = {
  changed: { text: 'done', exitCode: 0 },
  unchanged: { text: 'it already was so', exitCode: 0 },
  'unknown account': { text: 'there is no account with this e-mail', exitCode: 1 },
  'last administrator': { text: 'it is the last administrator; grant another one first', exitCode: 1 },
};

function report(email: string, change: RoleChange): number {
  const { text, exitCode } = REPORTS[change];
  (exitCode === 0 ? process.stdout : process.stderr).write(`${email}: ${text}\n`);
  return exitCode;
}

run(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
