import { runBuilt } from '../support/process.js';

it.each<[command: string, line: string, mistake: string, settings?: Record<string, string>]>([
  ['jobs', 'sleep', 'missing or unknown action: use list, retry or drop'],
  ['jobs', 'drop x1', 'drop needs the id of a job, as list shows it'],
  ['jobs', 'drop 1 2', 'drop does not accept 2'],
  ['jobs', 'retry 1 --all-dead', '--all-dead is an option of retry, without an ID'],
  ['jobs', 'list --state foo', 'unknown state foo: use one of waiting, due, running, retrying, dead'],
  ['payments', 'reject-refund 1', 'reject-refund needs the id of a refund, which npm run jobs -- list shows'],
  ['admin', 'grant', 'grant needs the email address of an account'],
  ['admin', 'revoke ayu@example.com --unverified', '--unverified is an option of grant'],
  ['db', 'restore file --force', "Unknown option '--force'"],
  ['db', 'status --keep 2', '--keep is an option of backup'],
  ['db', 'backup --keep 0', '--keep 0 must be a whole number from 1 to 9999'],
  ['db', 'backup file --keep 2', 'backup does not accept file'],
  ['seed', '--orders 5', '--products is missing: it must be a whole number from 1 to'],
  ['seed', '--products abc', '--products abc must be a whole number from 1 to'],
  // Without `--`, npm reads the option `--products` itself and passes it on in the environment.
  ['seed', '10', 'npm consumed --products: write -- before', { npm_config_products: '10' }],
])(
  'npm run %s -- %s prints the mistake above the help, and exits with code 2',
  async (command, line, mistake, settings = {}) => {
    const { code, output } = await runBuilt(`src/commands/${command}.js`, settings, line.split(' '));
    expect({ code, mistake: output.slice(0, mistake.length) }).toEqual({ code: 2, mistake });
    expect(output).toContain(`npm run ${command} --`);
  },
);
