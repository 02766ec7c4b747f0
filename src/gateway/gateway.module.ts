import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { JobsService } from '../jobs/jobs.service.js';
import { PaymentGateway } from './payment-gateway.js';
import { SimulatorController } from './simulator/simulator.controller.js';
import { SimulatorGateway } from './simulator/simulator.gateway.js';
import { SimulatorPage } from './simulator/simulator-page.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([SimulatorPage]), JobsModule],
  providers: [{ provide: PaymentGateway, inject: [Env, DataSource, JobsService], useFactory: createGateway }],
  exports: [PaymentGateway],
})
export class GatewayModule {}

/** Serves the payment pages of the simulator. Midtrans hosts its own pages. */
@Module({
  imports: [GatewayModule],
  controllers: [SimulatorController],
  providers: [{ provide: SimulatorGateway, useExisting: PaymentGateway }],
})
export class SimulatorModule {}

async function createGateway(env: Env, dataSource: DataSource, jobs: JobsService): Promise<PaymentGateway> {
  if (env.paymentGateway === 'simulator') return new SimulatorGateway(dataSource, jobs, env);
  // Import the class on demand: its HTTP client would slow the start of a development service by a tenth of a second.
  const { MidtransGateway } = await import('./midtrans.gateway.js');
  return new MidtransGateway(env);
}
