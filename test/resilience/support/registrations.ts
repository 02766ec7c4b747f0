import { randomInt, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import type { Response, Test } from 'supertest';
import type { components } from '../../../client/schema.js';
import { PASSWORD } from '../../support/accounts.js';
import { Client } from '../../support/client.js';
import { findCode } from '../../support/mail.js';
import type { SmtpStandIn } from '../../support/smtp-stand-in.js';
import { until } from '../../support/wait.js';
import type { Observer } from './observer.js';

type User = components['schemas']['UserView'];

interface Account {
  readonly email: string;
  /** Undefined if the response to the registration was lost or 503, so that the account may exist or not. */
  acknowledged?: User;
}

/** Registers accounts and remembers which were acknowledged. */
export class Registrations {
  readonly #accounts: Account[] = [];

  constructor(
    private readonly url: string,
    private readonly observer: Observer,
  ) {}

  async step(): Promise<void> {
    const email = `${randomUUID()}@example.com`;
    const account: Account = { email };
    this.#accounts.push(account);
    const registration = new Client(this.url)
      .register({ email, fullname: `Ayu ${email}`, password: PASSWORD })
      .agent(new Agent({ localAddress: createLoopbackAddress() }));
    const response = await this.observer.send(registration, 201);
    if (response !== undefined) account.acknowledged = userOf(response);
  }

  /**
   * Logs in to every stored account, compares its name and id, and verifies its email with the code of the last mail. Records
   * a violation if one of these steps fails, if an acknowledged account is not stored, or if a mail went to an account that is
   * not stored. Call this after all mails were sent.
   * @param stored email addresses of all stored accounts. Only these log in: any other login would count as a guess.
   * @returns number of mails that were sent in addition to the first mail of each account
   */
  async verify(smtp: SmtpStandIn, stored: ReadonlySet<string>): Promise<number> {
    const { violations } = this.observer;
    let sentAgain = 0;
    for (const { email, acknowledged } of this.#accounts) {
      const client = new Client(this.url);
      const codes = smtp.mails.filter(({ to }) => to.includes(email)).map(({ text }) => findCode(text));
      if (!stored.has(email)) {
        if (acknowledged !== undefined) violations.push(`account ${email} is lost`);
        if (codes.length > 0) violations.push(`${codes.length} mails went to ${email}, which has no account`);
        continue;
      }
      const login = await this.#send(() => client.post('/api/login').send({ email, password: PASSWORD }));
      if (login.status !== 200) {
        violations.push(`account ${email} cannot log in`);
        continue;
      }
      const { id, fullname } = userOf(login);
      if (fullname !== `Ayu ${email}` || id !== (acknowledged?.id ?? id))
        violations.push(`account ${email} is changed`);
      const otp = codes.at(-1) ?? 'none';
      const verification = await this.#send(() => client.post('/api/otp/verify').send({ otp }));
      if (verification.status !== 200)
        violations.push(`the last of ${codes.length} codes mailed to ${email} does not work`);
      sentAgain += codes.length - 1;
    }
    return sentAgain;
  }

  /**
   * Sends a request again until its response is 200 or 400, because a busy service may respond with 503 and a connection may
   * break. The observer records any other status as a violation.
   */
  #send(build: () => Test): Promise<Response> {
    return until('a response with status 200 or 400', () => this.observer.send(build(), 200, 400));
  }
}

function userOf({ body }: Response): User {
  return (body as { data: { user: User } }).data.user;
}

/** Creates a random client address, because each client address can request only 100 codes an hour. */
function createLoopbackAddress(): string {
  return ['127', randomInt(1, 255), randomInt(1, 255), randomInt(1, 255)].join('.');
}
