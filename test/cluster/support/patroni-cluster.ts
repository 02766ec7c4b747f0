import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { queryOnce } from '../../support/databases.js';
import { findFreePort, useFolder } from '../../support/process.js';
import { stopAfterUse } from '../../support/stop-after-use.js';
import { until } from '../../support/wait.js';
import { BIN_DIR, PatroniNode } from './patroni-node.js';
import { giveToClusterUser, startProgram, stopProgram } from './processes.js';

export const CLUSTER_PROGRAMS = [join(BIN_DIR, 'postgres'), 'patroni', 'etcd', 'haproxy'];
/** Random, because a fixed password would be public. Each published password must be in the list that production rejects. */
const PASSWORD = randomBytes(16).toString('hex');
/** Maximum time until etcd responds or every node is healthy. */
const DEADLINE_MS = 90_000;

type Role = 'primary' | 'synchronous';

/** Three PostgreSQL nodes under Patroni and etcd with HAProxy in front, configured by deploy/cluster. */
export class PatroniCluster {
  #databaseCount = 0;

  private constructor(
    private readonly folder: string,
    private readonly nodes: readonly PatroniNode[],
    /** Port of HAProxy, which connects clients to the primary. */
    private readonly port: number,
  ) {}

  /** Starts a cluster, which is stopped after its use. */
  static async start(): Promise<PatroniCluster> {
    const folder = await useFolder('bakery-cluster-');
    await giveToClusterUser(folder);
    const etcdPort = await findFreePort();
    const nodes: PatroniNode[] = [];
    for (const name of ['node1', 'node2', 'node3']) {
      const [port, apiPort] = [await findFreePort(), await findFreePort()];
      const etcd = `127.0.0.1:${etcdPort}`;
      nodes.push(new PatroniNode({ name, folder, etcd, password: PASSWORD, port, apiPort }));
    }
    const cluster = new PatroniCluster(folder, nodes, await findFreePort());
    await cluster.#startEtcd(etcdPort);
    for (const node of nodes) {
      node.start();
      await stopAfterUse(node, () => node.stop());
    }
    await cluster.#startHaproxy();
    await cluster.#waitUntilHealthy();
    await cluster.query(`CREATE ROLE bakery LOGIN PASSWORD '${PASSWORD}'`);
    return cluster;
  }

  /** Creates an empty database. Returns its URL through HAProxy. */
  async createDatabase(): Promise<string> {
    this.#databaseCount += 1;
    const name = `shop_${this.#databaseCount}`;
    await this.query(`CREATE DATABASE ${name} OWNER bakery`);
    return `postgresql://bakery:${PASSWORD}@127.0.0.1:${this.port}/${name}`;
  }

  /** Runs a statement on the primary as its superuser. */
  async query(statement: string): Promise<void> {
    await queryOnce(`postgresql://postgres:${PASSWORD}@127.0.0.1:${this.port}/postgres`, statement);
  }

  /** Returns the node with a role; undefined while there is none. */
  async findNode(role: Role): Promise<PatroniNode | undefined> {
    const areInRole = await Promise.all(this.nodes.map((node) => node.is(role)));
    return this.nodes.find((_, index) => areInRole[index]);
  }

  async getNode(role: Role): Promise<PatroniNode> {
    const node = await this.findNode(role);
    if (node === undefined) throw new Error(`no node is ${role}`);
    return node;
  }

  async heal(): Promise<void> {
    for (const node of this.nodes) await node.revive();
    await this.#waitUntilHealthy();
  }

  async #waitUntilHealthy(): Promise<void> {
    const isHealthy = async () => {
      const areRunning = await Promise.all(this.nodes.map((node) => node.is('health')));
      const [primary, standby] = [await this.findNode('primary'), await this.findNode('synchronous')];
      return !areRunning.includes(false) && primary !== undefined && standby !== undefined;
    };
    await until(
      'every node runs, one as the primary and one as the synchronous standby',
      isHealthy,
      DEADLINE_MS,
    );
  }

  async #startEtcd(port: number): Promise<void> {
    const client = `http://127.0.0.1:${port}`;
    const peer = `http://127.0.0.1:${await findFreePort()}`;
    const dataDir = join(this.folder, 'etcd');
    await mkdir(dataDir, { mode: 0o700 });
    await giveToClusterUser(dataDir);
    const args = [
      ...['--enable-v2', '--name', 'etcd', '--data-dir', dataDir],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `etcd=${peer}`],
    ];
    await stopAfterUse(startProgram('etcd', args), stopProgram);
    const responds = () =>
      fetch(`${client}/version`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('etcd responds', responds, DEADLINE_MS);
  }

  async #startHaproxy(): Promise<void> {
    const addresses = this.nodes.flatMap(({ options: { name, port, apiPort } }) => [
      [name.toUpperCase(), `127.0.0.1:${port}`],
      [`${name.toUpperCase()}_API`, String(apiPort)],
    ]);
    const haproxy = startProgram('haproxy', ['-db', '-f', 'deploy/cluster/haproxy.cfg'], {
      BIND: `127.0.0.1:${this.port}`,
      ...(Object.fromEntries(addresses) as Record<string, string>),
    });
    await stopAfterUse(haproxy, stopProgram);
  }
}
