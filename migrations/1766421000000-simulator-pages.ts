import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a payment page of the simulator have several transactions. Version 1.2 reads and writes only the latest one. */
export class SimulatorPages1766421000000 implements MigrationInterface {
  readonly name = 'SimulatorPages1766421000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE simulator_transactions ADD COLUMN earlier_transactions jsonb NOT NULL DEFAULT '[]'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE simulator_transactions DROP COLUMN earlier_transactions');
  }
}
