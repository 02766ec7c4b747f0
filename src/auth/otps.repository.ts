import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';

@Injectable()
export class OtpsRepository {
  constructor(@InjectRepository(OneTimePassword) private readonly otps: Repository<OneTimePassword>) {}

  /** @returns false when one was requested less than a minute ago; of several requests at once one is true */
  async request(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      `INSERT INTO one_time_passwords (user_id, purpose, requested_at) VALUES ($1, $2, now())
       ON CONFLICT (user_id, purpose) DO UPDATE SET requested_at = excluded.requested_at
         WHERE one_time_passwords.requested_at <= now() - interval '1 minute'
       RETURNING user_id`,
      [userId, purpose],
    );
    return rows.length === 1;
  }

  /** Makes every code of an account worthless. */
  async endAll(tx: EntityManager, userId: number): Promise<void> {
    await tx.update(OneTimePassword, { userId }, { digest: null });
  }

  /** Makes the code of an account for one purpose worthless. */
  async end(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<void> {
    await tx.update(OneTimePassword, { userId, purpose }, { digest: null });
  }

  /** Asks for a code whatever was asked for before: it is for another address, and the limit does not apply. */
  async requestAnew(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<void> {
    await tx.query(
      `INSERT INTO one_time_passwords (user_id, purpose, requested_at) VALUES ($1, $2, now())
       ON CONFLICT (user_id, purpose) DO UPDATE SET requested_at = excluded.requested_at`,
      [userId, purpose],
    );
  }

  /**
   * Counts a try, in a statement that commits by itself: whatever happens to the request, the try is spent.
   * @returns the digest to compare with; null when there is no valid code with a try left
   */
  async spendTry(userId: number, purpose: OtpPurpose, maxTries: number): Promise<Buffer | null> {
    const [rows] = await this.otps.query<[{ digest: Buffer }[], number]>(
      `UPDATE one_time_passwords SET tries = tries + 1
       WHERE user_id = $1 AND purpose = $2 AND digest IS NOT NULL AND expires_at > now() AND tries < $3
       RETURNING digest`,
      [userId, purpose, maxTries],
    );
    return rows[0]?.digest ?? null;
  }

  /** @returns false when the code was used or replaced in the meantime; of several uses at once one is true */
  async consume(tx: EntityManager, userId: number, purpose: OtpPurpose, digest: Buffer): Promise<boolean> {
    const { affected } = await tx.update(OneTimePassword, { userId, purpose, digest }, { digest: null });
    return affected === 1;
  }

  /** Makes a code the only valid one, with all its tries. */
  async issue(
    tx: EntityManager,
    userId: number,
    purpose: OtpPurpose,
    digest: Buffer,
    lifetimeSeconds: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE one_time_passwords
       SET digest = $3, expires_at = now() + make_interval(secs => $4), tries = 0
       WHERE user_id = $1 AND purpose = $2`,
      [userId, purpose, digest, lifetimeSeconds],
    );
  }
}
