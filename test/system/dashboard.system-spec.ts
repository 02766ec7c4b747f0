import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { requestLogin, requestResetCode } from '../support/accounts.js';
import { Client } from '../support/client.js';
import { describeInstalled } from '../support/installed.js';
import { placeOrder } from '../support/orders.js';
import { findFreePort } from '../support/process.js';
import { createPictures, createProduct } from '../support/products.js';
import { ServiceInstance } from '../support/service-process.js';
import { stopAfterUse } from '../support/stop-after-use.js';
import { until } from '../support/wait.js';

/** Panels that may stay empty: the service sends no 5xx, and with the simulator it calls no payment gateway. */
const MAY_BE_EMPTY = ['5xx by route', 'Gateway calls, p95'];
/** Maximum duration of the traffic, which ends when all panels show numbers. */
const TRAFFIC_LIMIT_MS = 60_000;

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

type Rule = Readonly<Record<'name' | 'query' | 'health' | 'state', string>>;

describeInstalled('in a Prometheus that scrapes a shop', ['prometheus'], () => {
  let instance: ServiceInstance;
  let prometheusUrl: string;

  beforeAll(async () => {
    instance = await ServiceInstance.create();
    const [metricsPort, prometheusPort] = [await findFreePort(), await findFreePort()];
    prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
    const configuration = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [resolve('deploy/prometheus/alerts.yml')],
      scrape_configs: [{ job_name: 'bakery', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
    };
    const configurationFile = join(instance.dataDir, 'prometheus.json');
    await writeFile(configurationFile, JSON.stringify(configuration));
    const options = [
      `--config.file=${configurationFile}`,
      `--storage.tsdb.path=${join(instance.dataDir, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ];
    await stopAfterUse(spawn('prometheus', options, { stdio: 'ignore' }), async (prometheus) => {
      const exited = once(prometheus, 'exit');
      prometheus.kill('SIGTERM');
      await exited;
    });
    const backups = join(instance.dataDir, 'backups');
    await mkdir(backups);
    const timestamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    await writeFile(join(backups, `bakery-${timestamp}.tar.gz`), ''); // The metric reads only its name.
    await instance.start({ METRICS_PORT: String(metricsPort), BACKUP_DIR: backups });
    const isReady = async () => (await fetch(`${prometheusUrl}/-/ready`).catch(() => undefined))?.ok;
    await until('Prometheus is ready', isReady);

    const admin = await instance.admin();
    const customer = new Client(instance.url);
    await customer.register({ email: 'ayu@example.com' }).expect(201);
    const deadline = Date.now() + TRAFFIC_LIMIT_MS;
    do {
      await sendTraffic(admin, customer);
    } while ((await findEmptyPanels()).length > 0 && Date.now() < deadline);
  });

  /** Sends requests of a customer and of an administrator, so that the panels of the dashboard show numbers. */
  async function sendTraffic(admin: Client, customer: Client): Promise<void> {
    const { id } = await createProduct(admin, createPictures(1));
    for (let count = 0; count < 5; count += 1) await customer.get('/api/products').expect(200);
    const { redirect_url } = await placeOrder(customer, [{ product_id: id, quantity: 1 }]);
    const { pathname } = new URL(redirect_url ?? '');
    await customer.post(`${pathname}/qris`).set('Accept', 'application/json').expect(200);
    await customer.get('/api/nowhere').expect(404);
    await requestLogin(instance, 'ayu@example.com', 'mistyped').expect(400);
    await requestResetCode(instance, 'ayu@example.com').expect(204);
    await admin.delete(`/api/products/${id}`).expect(204);
  }

  async function callPrometheus(path: string): Promise<unknown> {
    const response = await fetch(prometheusUrl + path);
    const { data, error } = (await response.json()) as { data?: unknown; error?: string };
    if (error !== undefined) throw new Error(`${path}: ${error}`);
    return data;
  }

  /** Returns true if a query has at least one series whose value is a number. */
  async function hasNumber(query: string): Promise<boolean> {
    const data = await callPrometheus(`/api/v1/query?query=${encodeURIComponent(query)}`);
    const { result } = data as { result: readonly { readonly value: readonly [number, string] }[] };
    return result.some(({ value: [, text] }) => Number.isFinite(Number(text)));
  }

  /** Returns the titles of panels with a query that has no number, except panels in `MAY_BE_EMPTY`. */
  async function findEmptyPanels(): Promise<string[]> {
    const dashboard = await readFile('deploy/grafana/dashboards/bakery.json', 'utf8');
    const { panels } = JSON.parse(dashboard) as { panels: readonly Panel[] };
    const empty: string[] = [];
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets) {
        // Replace the variables that Grafana sets.
        const query = expr.replaceAll('$__rate_interval', '15s').replaceAll('$instance', '.*');
        // Every query is sent, because Prometheus rejects an invalid one.
        if (!(await hasNumber(query)) && !MAY_BE_EMPTY.includes(title)) empty.push(title);
      }
    return empty;
  }

  it('every panel of the dashboard shows a number', async () => {
    expect(await findEmptyPanels()).toEqual([]);
  });

  it('every alert rule is valid, uses only metrics of the service and of node_exporter, and is neither pending nor firing', async () => {
    const listRules = async () => {
      const { groups } = (await callPrometheus('/api/v1/rules')) as {
        groups: readonly { rules: readonly Rule[] }[];
      };
      return groups.flatMap((group) => group.rules);
    };
    const rules = await listRules();
    expect(rules.length).toBeGreaterThan(0);
    for (const { name, query, health } of rules) {
      // The name of a metric is followed by `{` or `[`, or begins with `bakery_`. Skip the metrics `node_…` of node_exporter,
      // because this test does not run node_exporter.
      const metrics = query.match(/\b(?!node_)[a-z]\w*(?=[{[])|\bbakery_\w+/g) ?? [];
      const missing: string[] = [];
      for (const metric of metrics) if (!(await hasNumber(metric))) missing.push(metric);
      expect({ name, health, missing }).toEqual({ name, health: 'ok', missing: [] });
      // A load of this machine can make a rule pending for a moment.
      await until(`${name} is inactive`, async () =>
        (await listRules()).some((rule) => rule.name === name && rule.state === 'inactive'),
      );
    }
  });
});
