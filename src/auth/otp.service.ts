import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Raw, Repository } from 'typeorm';
import { failures } from '../common/errors/failures.js';
import { Env } from '../config/env.js';
import { type CodeGuess, LimitsService } from './limits.service.js';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';

export const OTP_MINUTES = 10;

const IN_FUTURE = Raw((column) => `${column} > now()`);

type CheckedOtp = Pick<OneTimePassword, 'userId' | 'purpose'> & { readonly digest: Buffer };

/** One-time passwords: 6 digits, stored as a keyed digest (contract 11). */
@Injectable()
export class OtpService {
  /** Without a key, a code could be recovered from its digest by trying all numbers of six digits. */
  readonly #key: Buffer;

  constructor(
    @InjectRepository(OneTimePassword) private readonly otps: Repository<OneTimePassword>,
    private readonly limits: LimitsService,
    env: Env,
  ) {
    this.#key = Buffer.from(hkdfSync('sha256', env.jwtAccessSecret, '', 'one-time passwords', 32));
  }

  /** Stores the request for a code, which `create` fills later. Changes nothing if there is such a request already. */
  async request(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<void> {
    const insertion = tx.createQueryBuilder().insert().into(OneTimePassword).values({ userId, purpose });
    await insertion.orIgnore().execute();
  }

  /** Creates the code for an earlier request and stores its digest. Returns null if no code was requested. */
  async create(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<string | null> {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const created = {
      digest: this.#digest(userId, purpose, code),
      expiresAt: () => `now() + interval '${OTP_MINUTES} minutes'`,
      tries: 0,
    };
    const { affected } = await tx.update(OneTimePassword, { userId, purpose }, created);
    return affected === 1 ? code : null;
  }

  /**
   * Counts a try and checks the code.
   * @throws Failure 400, also after too many tries
   */
  async checkCode(guess: CodeGuess, code: string): Promise<CheckedOtp> {
    const { user, purpose } = guess;
    // The user 0 does not exist. The search for their code takes the usual time.
    const userId = user?.id ?? 0;
    const otp = await this.otps.findOneBy({ userId, purpose, expiresAt: IN_FUTURE });
    const codeId = `${purpose} ${otp?.expiresAt?.getTime() ?? 'none'}`;
    const digest = otp?.digest ?? null;
    const isRight = await this.limits.checkCode(guess, codeId, () => {
      return digest !== null && timingSafeEqual(digest, this.#digest(userId, purpose, code));
    });
    if (isRight && digest !== null) return { userId, purpose, digest };
    throw failures.invalidOtp();
  }

  /** @throws Failure 400 if the code was used or replaced, or has expired, since the check */
  async consume(tx: EntityManager, checked: CheckedOtp): Promise<void> {
    const valid = { ...checked, expiresAt: IN_FUTURE };
    const { affected } = await tx.update(OneTimePassword, valid, { digest: null });
    if (affected !== 1) throw failures.invalidOtp();
  }

  /** Invalidates the codes of a user that were mailed. A request whose code was not created yet stays. */
  async invalidate(tx: EntityManager, userId: number): Promise<void> {
    await tx.update(OneTimePassword, { userId }, { digest: null });
  }

  /** Deletes codes of a user, and requests whose code was not created yet. */
  async delete(tx: EntityManager, codes: { userId: number; purpose?: OtpPurpose }): Promise<void> {
    await tx.delete(OneTimePassword, codes);
  }

  #digest(userId: number, purpose: OtpPurpose, code: string): Buffer {
    return createHmac('sha256', this.#key).update(`${userId}:${purpose}:${code}`).digest();
  }
}
