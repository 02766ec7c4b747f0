import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Database } from '../../config/database.js';
import { Env } from '../../config/env.js';
import { Lease, now } from './lease.js';

/** The channel of the triggers (migration 1764000000000). */
const CHANNEL = 'product_changes';
const HEARTBEAT_MS = 250;
/** A page is at most a second old (issue of the page cache); the rest is for sending it. */
const LEASE_MS = 900;
/** A connection that is silent for so long is given up. */
const SILENCE_MS = 3000;
const SHORTEST_PAUSE_MS = 100;
/** No longer: the service is itself again within 5 s of the database's return (issue of the resilience tests). */
const LONGEST_PAUSE_MS = 1000;
const CLOSING_MS = 500;

/** What happened to the catalog: the ids of changed products, or anything at all. */
export type Change = readonly number[] | 'all';

/**
 * Hears from the database which products changed, whoever changed them, on a connection of its own.
 *
 * A connection can fall silent without breaking. Each answered heartbeat proves that all that was committed before
 * it was sent has arrived: PostgreSQL sends what a session has been notified of before it is ready for the next
 * statement, and signals a notification before the writer is told of the commit. So `isCurrent` holds until a time
 * after the last heartbeat that was answered was sent.
 */
@Injectable()
export class ProductChanges implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger('ProductChanges');
  readonly #events = new EventEmitter<{ change: [Change]; hello: [string] }>();
  readonly #lease = new Lease(LEASE_MS);
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #heartbeat: (() => Promise<void>) | null = null;
  #position: bigint | null = null;
  /** Counts the changes: a position that was asked for before one says nothing of it. */
  #changeCount = 0;

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly env: Env,
  ) {}

  /** Whether every change that was committed up to `LEASE_MS` ago has been told. */
  get isCurrent(): boolean {
    return this.#lease.isHeld;
  }

  /**
   * A position in the primary's write-ahead log, in bytes, that every change which is known so far lies before; null
   * while there is none. Asked for only where there is a replica to compare it with.
   */
  get position(): bigint | null {
    return this.isCurrent ? this.#position : null;
  }

  /** Notes a change, be it one that this process has committed and of which the database will tell only later. */
  noteChange(): void {
    this.#position = null;
    this.#changeCount += 1;
  }

  /** @param listener also told `all` whenever changes may have been missed */
  onChange(listener: (change: Change) => void): void {
    this.#events.on('change', listener);
  }

  /** Waits until every change that was committed before the call has been told; false when none are heard. */
  async catchUp(): Promise<boolean> {
    await this.#heartbeat?.();
    return this.#heartbeat !== null;
  }

  onApplicationBootstrap(): void {
    if (this.env.catalogCacheBytes > 0 || this.#hasReplica) this.#running = this.#listenUntilStopped();
  }

  async onModuleDestroy(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #listenUntilStopped(): Promise<void> {
    let pauseMs = SHORTEST_PAUSE_MS;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#listen(() => {
          pauseMs = SHORTEST_PAUSE_MS;
        });
      } catch (error) {
        this.#logger.warn('changes of products are not heard: pages come from the database', error);
      } finally {
        this.#heartbeat = null;
        this.#lease.end();
        this.#tell('all');
      }
      await delay(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => {
        // Stopping.
      });
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** @throws Error when the connection is lost; returns when the service stops */
  async #listen(onHeard: () => void): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: this.database.url,
      application_name: 'bakery-changes',
      connectionTimeoutMillis: SILENCE_MS,
      query_timeout: SILENCE_MS,
      keepAlive: true,
      stream: () => socket,
    });
    const lost = new AbortController();
    const stopped = AbortSignal.any([this.#stop.signal, lost.signal]);
    client.on('error', (error) => {
      lost.abort(error);
    });
    client.on('end', () => {
      lost.abort(new Error('the connection has ended'));
    });
    client.on('notification', ({ payload = '' }) => {
      this.#hear(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      await this.#proveThatChangesArrive(stopped);
      const beat = async (): Promise<void> => {
        const sent = now();
        const changeCount = this.#changeCount;
        const position = await this.#beat(client);
        this.#lease.renew(sent);
        if (changeCount === this.#changeCount) this.#position = position;
      };
      let latest = Promise.resolve();
      this.#heartbeat = () => (latest = latest.then(beat));
      while (!stopped.aborted) {
        await this.catchUp();
        onHeard();
        await delay(HEARTBEAT_MS, undefined, { signal: stopped }).catch(() => {
          // Stopping, or lost.
        });
      }
      if (!this.#stop.signal.aborted)
        throw new Error('the connection was lost', { cause: lost.signal.reason });
    } finally {
      this.#heartbeat = null;
      const closing = delay(CLOSING_MS, undefined, { ref: false });
      await Promise.race([
        client.end().catch(() => {
          // It is going anyway.
        }),
        closing,
      ]);
      socket.destroy();
    }
  }

  get #hasReplica(): boolean {
    return this.env.databaseReplicaUrl !== undefined;
  }

  /** One round trip. @returns the end of the write-ahead log that a replica may have received */
  async #beat(client: pg.Client): Promise<bigint | null> {
    if (!this.#hasReplica) {
      await client.query('SELECT 1');
      return null;
    }
    const { rows } = await client.query<{ readonly position: string }>(
      "SELECT pg_current_wal_flush_lsn() - '0/0' AS position",
    );
    return rows[0] === undefined ? null : BigInt(rows[0].position);
  }

  /**
   * Sends a message by another connection and waits for it. A connection pooler between the service and its
   * database may take a LISTEN and then let every notification go astray.
   */
  async #proveThatChangesArrive(stopped: AbortSignal): Promise<void> {
    const greeting = randomUUID();
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(SILENCE_MS)]);
    const heard = (async () => {
      for (;;) {
        const [text] = (await once(this.#events, 'hello', { signal })) as [string];
        if (text === greeting) return;
      }
    })();
    await Promise.all([
      heard,
      this.dataSource.query('SELECT pg_notify($1, $2)', [CHANNEL, `hello ${greeting}`]),
    ]);
  }

  #hear(payload: string): void {
    if (payload.startsWith('hello ')) {
      this.#events.emit('hello', payload.slice('hello '.length));
      return;
    }
    // Whatever cannot be read may concern any product.
    const isList = /^\d{1,10}(,\d{1,10})*$/.test(payload);
    this.#tell(isList ? payload.split(',').map(Number) : 'all');
  }

  #tell(change: Change): void {
    this.noteChange();
    this.#events.emit('change', change);
  }
}
