import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { JobsService } from '../jobs/jobs.service.js';
import { PaymentGateway } from './payment-gateway.js';
import { SimulatorController } from './simulator/simulator.controller.js';
import { SimulatorGateway } from './simulator/simulator.gateway.js';
import { SimulatorTransaction } from './simulator/simulator-transaction.entity.js';

/** Gives the payment gateway that the settings name; only that one is made. */
@Module({
  imports: [TypeOrmModule.forFeature([SimulatorTransaction]), JobsModule],
  providers: [{ provide: PaymentGateway, inject: [Env, DataSource, JobsService], useFactory: gatewayOf }],
  exports: [PaymentGateway],
})
export class GatewayModule {}

/** The simulator's page, for services whose `PaymentGateway` is the simulator. */
@Module({ imports: [GatewayModule], controllers: [SimulatorController] })
class SimulatorPageModule {}

async function gatewayOf(env: Env, dataSource: DataSource, jobs: JobsService): Promise<PaymentGateway> {
  if (env.payment.gateway === 'simulator') return new SimulatorGateway(dataSource, jobs, env);
  // Loaded only where it is wanted: its HTTP client takes a development service a tenth of a second to start.
  const { MidtransGateway } = await import('./midtrans.gateway.js');
  return new MidtransGateway(env.payment);
}

/** Modules with pages of the gateway; there are none with Midtrans. */
export function gatewayPages({ payment }: Env): Type[] {
  return payment.gateway === 'simulator' ? [SimulatorPageModule] : [];
}
