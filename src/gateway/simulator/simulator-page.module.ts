import { Module } from '@nestjs/common';
import { SimulatorController } from './simulator.controller.js';
import { SimulatorModule } from './simulator.module.js';
import { SimulatorPage } from './simulator-page.js';

/** The simulated gateway's page, which exists only where no real money is asked for. */
@Module({
  imports: [SimulatorModule],
  controllers: [SimulatorController],
  providers: [SimulatorPage],
})
export class SimulatorPageModule {}
