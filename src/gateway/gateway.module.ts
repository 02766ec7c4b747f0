import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MidtransGateway } from './midtrans.gateway.js';
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

function gatewayOf(env: Env, dataSource: DataSource, jobs: JobsService): PaymentGateway {
  if (env.payment.gateway === 'midtrans') return new MidtransGateway(env.payment);
  return new SimulatorGateway(dataSource, jobs, env);
}

/** Modules with pages of the gateway; there are none with Midtrans. */
export function gatewayPages({ payment }: Env): Type[] {
  return payment.gateway === 'simulator' ? [SimulatorPageModule] : [];
}
