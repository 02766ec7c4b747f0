import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../../jobs/jobs.module.js';
import { SimulatorNotification } from './simulator-notification.entity.js';
import { SimulatorNotifierService } from './simulator-notifier.service.js';
import { SimulatorTransaction } from './simulator-transaction.entity.js';
import { SimulatorGateway } from './simulator.gateway.js';
import { SimulatorRepository } from './simulator.repository.js';
import { SimulatorService } from './simulator.service.js';

/** The simulated gateway without its page; inert unless it is the gateway of the settings. */
@Module({
  imports: [TypeOrmModule.forFeature([SimulatorTransaction, SimulatorNotification]), JobsModule],
  providers: [SimulatorRepository, SimulatorNotifierService, SimulatorService, SimulatorGateway],
  exports: [SimulatorGateway, SimulatorService],
})
export class SimulatorModule {}
