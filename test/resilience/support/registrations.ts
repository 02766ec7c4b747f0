import { randomUUID } from 'node:crypto';
import { Client } from '../../support/client.js';
import type { SmtpStandIn } from '../../support/smtp-stand-in.js';
import type { Observer } from './observer.js';

const PASSWORD = 'kue lapis legit';

interface Registered {
  readonly email: string;
  readonly fullname: string;
  readonly client: Client;
  /** Undefined while it is not known whether the account was made. */
  id: number | undefined;
}

/** Registers accounts and remembers which were acknowledged. */
export class Registrations {
  readonly #all: Registered[] = [];

  constructor(
    private readonly url: string,
    private readonly observer: Observer,
  ) {}

  /** Every registration that was acknowledged. */
  get acknowledged(): readonly Registered[] {
    return this.#all.filter(({ id }) => id !== undefined);
  }

  async step(): Promise<void> {
    const name = randomUUID();
    const account: Registered = {
      email: `${name}@example.com`,
      fullname: `Ayu ${name}`,
      client: new Client(this.url),
      id: undefined,
    };
    this.#all.push(account);
    const { email, fullname, client } = account;
    const outcome = await this.observer.send(client.register({ email, fullname, password: PASSWORD }), [201]);
    if (outcome.isKnown) account.id = userOf(outcome.answer.body).id;
  }

  /**
   * Signs in to every account. What was acknowledged must be there as it was given; what is in doubt may be there,
   * whole.
   * @returns how many acknowledged ones are lost
   */
  async verify(): Promise<number> {
    let lost = 0;
    for (const account of this.#all) {
      const { email, fullname, id, client } = account;
      const outcome = await this.observer.send(
        client.post('/api/login').send({ email, password: PASSWORD }),
        [200, 400],
      );
      const user = outcome.isKnown && outcome.answer.status === 200 ? userOf(outcome.answer.body) : undefined;
      const isRight = user?.email === email && user.fullname === fullname && user.id === (id ?? user.id);
      if (isRight) account.id = user.id;
      if ((id !== undefined || user !== undefined) && !isRight) {
        lost += 1;
        this.observer.violation(`account ${email} is lost or changed`);
      }
    }
    return lost;
  }

  /**
   * What a customer sees of the one-time passwords, once the queue is empty: at least one mail, and the code of the
   * last one works. Call after `verify`.
   */
  async verifyCodes(smtp: SmtpStandIn): Promise<{ due: number; left: number; duplicated: number }> {
    const mails = new Map<string, string[]>();
    for (const { to, text } of smtp.mails) {
      const code = /(?<![\w.-])\d{6}(?![\w-])/.exec(text)?.[0];
      // Receipts hold none.
      if (code === undefined) continue;
      for (const address of to) mails.set(address, [...(mails.get(address) ?? []), code]);
    }
    let [left, duplicated] = [0, 0];
    for (const { email, client } of this.acknowledged) {
      const codes = mails.get(email) ?? [];
      mails.delete(email);
      if (codes.length === 0) {
        this.observer.violation(`no code was ever mailed to ${email}`);
        continue;
      }
      left += 1;
      duplicated += codes.length - 1;
      await this.observer
        .send(client.post('/api/otp/verify').send({ otp: codes.at(-1) }), [200])
        .then(({ isKnown }) => {
          if (!isKnown)
            this.observer.violation(`the last of ${codes.length} codes mailed to ${email} does not work`);
        });
    }
    for (const [address, { length }] of mails) {
      if (this.#all.some(({ email }) => email === address)) {
        this.observer.violation(`${length} mails went to ${address}, which has no account`);
      }
    }
    return { due: this.acknowledged.length, left, duplicated };
  }
}

function userOf(body: unknown): { id: number; email: string; fullname: string } {
  return (body as { data: { user: { id: number; email: string; fullname: string } } }).data.user;
}
