import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { OneTimePassword, type OtpPurpose } from './otp.entity.js';

@Injectable()
export class OtpsRepository {
  constructor(@InjectRepository(OneTimePassword) private readonly otps: Repository<OneTimePassword>) {}

  /** @returns false when one was requested less than a minute ago; of several requests at once one is true */
  async request(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<boolean> {
    // SQL: an upsert with a condition on the stored row, which decides between requests at the same moment.
    const rows = await tx.query<unknown[]>(
      `INSERT INTO one_time_passwords (user_id, purpose, requested_at) VALUES ($1, $2, now())
       ON CONFLICT (user_id, purpose) DO UPDATE SET requested_at = excluded.requested_at
         WHERE one_time_passwords.requested_at <= now() - interval '1 minute'
       RETURNING user_id`,
      [userId, purpose],
    );
    return rows.length === 1;
  }

  /** Makes a code the only valid one, with all its tries. @returns false when none is requested any more */
  async issue(tx: EntityManager, userId: number, purpose: OtpPurpose, digest: Buffer): Promise<boolean> {
    const expiresAt = (): string => `now() + interval '10 minutes'`;
    const { affected } = await tx.update(
      OneTimePassword,
      { userId, purpose },
      { digest, expiresAt, tries: 0 },
    );
    return affected === 1;
  }

  /**
   * Counts a try, in a statement that commits by itself: whatever happens to the request, the try is spent.
   * @returns the digest to compare with; null when there is no valid code with a try left
   */
  async spendTry(userId: number, purpose: OtpPurpose, maxTries: number): Promise<Buffer | null> {
    const result = await this.otps
      .createQueryBuilder()
      .update()
      .set({ tries: () => 'tries + 1' })
      .where({ userId, purpose })
      .andWhere('digest IS NOT NULL AND expires_at > now() AND tries < :maxTries', { maxTries })
      .returning('digest')
      .execute();
    const [row] = result.raw as { readonly digest: Buffer }[];
    return row?.digest ?? null;
  }

  /** @returns false when the code was used or replaced in the meantime; of several uses at once one is true */
  async consume(tx: EntityManager, userId: number, purpose: OtpPurpose, digest: Buffer): Promise<boolean> {
    const { affected } = await tx.update(OneTimePassword, { userId, purpose, digest }, { digest: null });
    return affected === 1;
  }

  /** Ends the code of an account for one purpose. The next one can be had when its minute is over. */
  async end(tx: EntityManager, userId: number, purpose: OtpPurpose): Promise<void> {
    await tx.update(OneTimePassword, { userId, purpose }, { digest: null });
  }

  /** Ends every code of an account. New ones can be had at once. */
  async deleteAll(tx: EntityManager, userId: number): Promise<void> {
    await tx.delete(OneTimePassword, { userId });
  }
}
