import { readdir, readFile } from 'node:fs/promises';
import { Client } from '../support/client.js';
import { describeInstalled } from '../support/installed.js';
import { MidtransStandIn } from '../support/midtrans-stand-in.js';
import { buildNotification, sendNotification } from '../support/notifications.js';
import { gatewaySettings, placeOrder } from '../support/orders.js';
import { type InstallationKind, Installations } from '../support/runbooks/installations.js';
import { readBlocks, toPattern } from '../support/runbooks/pages.js';
import { createPictures, createProduct } from '../support/products.js';
import { SERVER_KEY, signInAdmin } from '../support/service.js';
import { until } from '../support/wait.js';

/** The page about jobs comes first, because it ends the refund that each installation has at the beginning. */
const PAGES = [
  'jobs.md',
  'README.md',
  'alerts.md',
  'disk.md',
  'secrets.md',
  'backups.md',
  'upgrades.md',
  'midtrans.md',
];
/** Blocks that cannot run here: two installations, the code of another version, and the containers for development. */
const UNTESTED_BLOCKS = 4;

it('every alert has a section in the runbooks, and its annotation `runbook` names that section', async () => {
  const rules = await readFile('deploy/prometheus/alerts.yml', 'utf8');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const runbooks = [...rules.matchAll(/runbook: (\S+)/g)].map(([, link]) => link);
  expect(runbooks).toEqual(alerts.map((name) => `docs/operation/alerts.md#${name.toLowerCase()}`));
  const page = await readFile('docs/operation/alerts.md', 'utf8');
  const sections = [...page.matchAll(/^## (Bakery\w+)\n(.*?)(?=^## |$(?![\s\S]))/gms)];
  expect(sections.map(([, name]) => name)).toEqual(alerts);
  for (const [, name, text = ''] of sections)
    for (const part of ['**See.**', '**Do.**', '**Verify.**'])
      expect({ name, part, isPresent: text.includes(part) }).toEqual({ name, part, isPresent: true });
});

it('the index of the runbooks is complete, and exactly four blocks are not tested', async () => {
  expect((await readdir('docs/operation')).sort()).toEqual([...PAGES].sort());
  const index = await readFile('docs/operation/README.md', 'utf8');
  expect(PAGES.filter((page) => page !== 'README.md' && !index.includes(`](${page})`))).toEqual([]);
  expect(await readBlocks('midtrans.md')).toEqual([]); // The commands below leave this page out.
  const blocks = (await Promise.all(PAGES.map(readBlocks))).flat();
  expect(blocks.length).toBeGreaterThan(50);
  expect(blocks.filter(({ isTested }) => !isTested)).toHaveLength(UNTESTED_BLOCKS);
});

describeInstalled('the command blocks of the runbooks', ['psql', 'curl', 'openssl'], () => {
  let installations: Installations;

  beforeAll(async () => {
    const gateway = await MidtransStandIn.start({ serverKey: SERVER_KEY });
    gateway.addFault({ operation: 'refund', kind: 'garbage' });
    installations = await Installations.create(gatewaySettings(gateway));
    expect(await installations.run('machine', 'systemctl start bakery')).toEqual({ code: 0, output: '' });
    expect(await installations.run('compose', 'docker compose up')).toEqual({ code: 0, output: '' });
    for (const url of Object.values(installations.urls)) {
      await until('the service listens', () => fetch(url).catch(() => null), 120_000);
      await leaveRefundWithoutResult(url, gateway);
    }
  });

  const pages = PAGES.filter((page) => page !== 'midtrans.md'); // It has no commands.
  it.each(pages)(
    'in %s run on the installation that they are written for, and print what the page shows',
    async (page) => {
      const failures = [];
      const blocks = await readBlocks(page);
      expect(blocks).not.toEqual([]);
      for (const { commands, shown, isTested } of blocks) {
        if (!isTested) continue;
        const kind: InstallationKind = commands.includes('docker ') ? 'compose' : 'machine';
        const { code, output } = await installations.run(kind, commands);
        const isAsShown = shown === undefined || toPattern(shown).test(output);
        if (code !== 0 || !isAsShown) failures.push({ commands, code, shown, output });
      }
      expect(failures).toEqual([]);
    },
  );
});

/** Places and pays an order, and requests a refund. The response of the gateway to the refund is unusable. */
async function leaveRefundWithoutResult(url: string, gateway: MidtransStandIn): Promise<void> {
  const admin = await signInAdmin(url);
  const { id } = await createProduct(admin, createPictures(1));
  const customer = new Client(url);
  await customer.register({ email: 'ayu@example.com' }).expect(201);
  const { order_id } = await placeOrder(customer, [{ product_id: id, quantity: 1 }]);
  const { transactionId, grossAmount } = gateway.settle(order_id);
  const notification = { order_id, transaction_id: transactionId, gross_amount: grossAmount };
  await sendNotification({ url }, buildNotification(notification)).expect(200);
  await admin.post(`/api/admin/orders/${order_id}/refund`).send({}).expect(502);
}
