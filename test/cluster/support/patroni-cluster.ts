import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../support/process.js';
import { until } from '../../support/wait.js';
import { PatroniNode } from './patroni-node.js';
import { clusterUser, startProgram, stopProgram } from './processes.js';

const BIN_DIR = '/usr/lib/postgresql/15/bin';
const PROGRAMS = [join(BIN_DIR, 'postgres'), 'patroni', 'etcd', 'haproxy', 'pgbouncer', 'nginx'];
const NODES = 3;
/** Random for each run, because production rejects passwords that a file publishes. */
const PASSWORD = randomBytes(16).toString('hex');
const START_MS = 90_000;

/** Returns the programs of this suite that are not installed. */
export function missingPrograms(): string[] {
  const environment = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  return PROGRAMS.filter(
    (program) => spawnSync(program, ['--version'], { env: environment }).error !== undefined,
  );
}

/** Three PostgreSQL nodes under Patroni and etcd with HAProxy in front, configured by deploy/cluster. */
export class PatroniCluster {
  readonly #stops: (() => Promise<void>)[] = [];
  #databases = 0;

  private constructor(
    readonly folder: string,
    readonly nodes: readonly PatroniNode[],
    /** Port of HAProxy, which leads to the primary. */
    private readonly port: number,
  ) {}

  static async start(): Promise<PatroniCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'bakery-cluster-'));
    const { uid, gid } = clusterUser();
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
    const etcdPort = await freePort();
    const nodes: PatroniNode[] = [];
    for (let number = 1; number <= NODES; number += 1)
      nodes.push(await PatroniNode.prepare(`node${number}`, folder, `127.0.0.1:${etcdPort}`, PASSWORD));
    const cluster = new PatroniCluster(folder, nodes, await freePort());
    try {
      await cluster.#startEtcd(etcdPort);
      for (const node of nodes) {
        node.start();
        cluster.#stops.push(() => node.stop());
      }
      cluster.#startHaproxy();
      await until('the cluster has a primary and a synchronous standby', () => cluster.isHealthy(), START_MS);
      await cluster.query(`CREATE ROLE bakery LOGIN PASSWORD '${PASSWORD}'`);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Creates an empty database. @returns its URL through HAProxy */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `shop_${this.#databases}`;
    await this.query(`CREATE DATABASE ${name} OWNER bakery`);
    return `postgresql://bakery:${PASSWORD}@127.0.0.1:${this.port}/${name}`;
  }

  /** Runs a statement on the primary as its superuser. */
  async query(statement: string): Promise<void> {
    const client = new pg.Client({
      connectionString: `postgresql://postgres:${PASSWORD}@127.0.0.1:${this.port}/postgres`,
    });
    client.on('error', () => undefined); // The statement reports a lost connection.
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  }

  /** Returns the node with this role; undefined while there is none. */
  async findNode(role: 'primary' | 'synchronous'): Promise<PatroniNode | undefined> {
    const isInRole = await Promise.all(this.nodes.map((node) => node.is(role)));
    return this.nodes[isInRole.indexOf(true)];
  }

  async nodeOf(role: 'primary' | 'synchronous'): Promise<PatroniNode> {
    const node = await this.findNode(role);
    if (node === undefined) throw new Error(`no node is ${role}`);
    return node;
  }

  /** Restores the cluster after a test: every node runs, one is the primary, one the synchronous standby. */
  async heal(): Promise<void> {
    for (const node of this.nodes) await node.revive();
    await until('the cluster is whole again', () => this.isHealthy(), START_MS);
  }

  async isHealthy(): Promise<boolean> {
    const areRunning = await Promise.all(this.nodes.map((node) => node.is('health')));
    const [primary, standby] = [await this.findNode('primary'), await this.findNode('synchronous')];
    return !areRunning.includes(false) && primary !== undefined && standby !== undefined;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #startEtcd(port: number): Promise<void> {
    const client = `http://127.0.0.1:${port}`;
    const peer = `http://127.0.0.1:${await freePort()}`;
    const dataDir = join(this.folder, 'etcd');
    await mkdir(dataDir, { mode: 0o700 });
    const { uid, gid } = clusterUser();
    if (uid !== undefined && gid !== undefined) await chown(dataDir, uid, gid);
    const etcd = startProgram(
      'etcd',
      [
        ...['--enable-v2', '--name', 'etcd', '--data-dir', dataDir],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `etcd=${peer}`],
      ],
      join(this.folder, 'etcd.log'),
    );
    this.#stops.push(() => stopProgram(etcd));
    await until(
      'etcd responds',
      () =>
        fetch(`${client}/version`).then(
          ({ ok }) => ok,
          () => false,
        ),
      START_MS,
    );
  }

  #startHaproxy(): void {
    const addresses = this.nodes.flatMap(({ name, port, apiPort }) => [
      [name.toUpperCase(), `127.0.0.1:${port}`],
      [`${name.toUpperCase()}_API`, String(apiPort)],
    ]);
    const haproxy = startProgram(
      'haproxy',
      ['-db', '-f', 'deploy/cluster/haproxy.cfg'],
      join(this.folder, 'haproxy.log'),
      { BIND: `127.0.0.1:${this.port}`, ...(Object.fromEntries(addresses) as Record<string, string>) },
    );
    this.#stops.push(() => stopProgram(haproxy));
  }
}
