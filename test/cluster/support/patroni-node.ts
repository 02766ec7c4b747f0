import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasExited, signalTree, startProgram, stopProgram } from './processes.js';

/** Folder of PostgreSQL's programs in Debian 12. */
export const BIN_DIR = '/usr/lib/postgresql/15/bin';
/** A suspended Patroni accepts connections but does not respond. */
const API_TIMEOUT_MS = 1_500;

interface NodeOptions {
  readonly name: string;
  /** Folder of the cluster, which contains the data of the node in a folder with its name. */
  readonly folder: string;
  /** Address of etcd. */
  readonly etcd: string;
  readonly password: string;
  readonly port: number;
  readonly apiPort: number;
}

/** A PostgreSQL server and the Patroni process that manages it. */
export class PatroniNode {
  #patroni: ChildProcess | undefined;
  #isSuspended = false;

  constructor(readonly options: NodeOptions) {}

  get name(): string {
    return this.options.name;
  }

  start(): void {
    const { name, etcd, password, port, apiPort } = this.options;
    const [api, address] = [`127.0.0.1:${apiPort}`, `127.0.0.1:${port}`];
    this.#patroni = startProgram('patroni', [join(process.cwd(), 'deploy', 'cluster', 'patroni.yml')], {
      PATRONI_NAME: name,
      PATRONI_ETCD_HOSTS: etcd,
      PATRONI_RESTAPI_LISTEN: api,
      PATRONI_RESTAPI_CONNECT_ADDRESS: api,
      PATRONI_POSTGRESQL_LISTEN: address,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: address,
      PATRONI_POSTGRESQL_DATA_DIR: this.dataDir,
      PATRONI_POSTGRESQL_BIN_DIR: BIN_DIR,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: password,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: password,
    });
  }

  /** Returns true if Patroni reports that the node runs (`health`) or has the given role. */
  async is(state: 'health' | 'primary' | 'synchronous'): Promise<boolean> {
    return fetch(`${this.apiUrl}/${state}`, {
      signal: AbortSignal.timeout(API_TIMEOUT_MS),
    }).then(
      ({ ok }) => ok,
      () => false, // The node is down or suspended.
    );
  }

  /** Makes another node the primary in place of this node, which must be the current primary. */
  async switchover(): Promise<void> {
    const response = await fetch(`${this.apiUrl}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: this.name }),
    });
    if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`);
  }

  /** Kills Patroni and every process of the server with SIGKILL. */
  async kill(): Promise<void> {
    await this.#signal('SIGKILL');
  }

  /** Suspends the node like a machine that hangs: connections stay open and nothing responds. */
  async suspend(): Promise<void> {
    this.#isSuspended = true;
    await this.#signal('SIGSTOP');
  }

  async resume(): Promise<void> {
    await this.#signal('SIGCONT');
    this.#isSuspended = false;
  }

  /** Resumes or restarts the node after a failure. */
  async revive(): Promise<void> {
    if (this.#isSuspended) await this.resume();
    if (this.#patroni === undefined || hasExited(this.#patroni)) this.start();
  }

  async stop(): Promise<void> {
    if (this.#isSuspended) await this.resume();
    if (this.#patroni !== undefined) await stopProgram(this.#patroni);
  }

  private get apiUrl(): string {
    return `http://127.0.0.1:${this.options.apiPort}`;
  }

  private get dataDir(): string {
    return join(this.options.folder, this.name);
  }

  /** Signals Patroni and the server with all their child processes. */
  async #signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const serverPid = parseInt(await readFile(join(this.dataDir, 'postmaster.pid'), 'utf8'));
    for (const pid of [this.#patroni?.pid, serverPid]) if (pid !== undefined) await signalTree(pid, signal);
  }
}
