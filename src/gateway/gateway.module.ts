import { Module, type Type } from '@nestjs/common';
import { Env } from '../config/env.js';
import { GatewayService } from './gateway.service.js';
import { MidtransGateway } from './midtrans.gateway.js';
import { PaymentGateway } from './payment-gateway.js';
import { SimulatorPageModule } from './simulator/simulator-page.module.js';
import { SimulatorGateway } from './simulator/simulator.gateway.js';
import { SimulatorModule } from './simulator/simulator.module.js';

/** Gives the payment gateway that the settings name. */
@Module({
  imports: [SimulatorModule],
  providers: [
    GatewayService,
    {
      provide: PaymentGateway,
      inject: [Env, SimulatorGateway],
      useFactory: gatewayOf,
    },
  ],
  exports: [GatewayService, PaymentGateway],
})
export class GatewayModule {}

function gatewayOf({ payment, nodeEnv }: Env, simulator: SimulatorGateway): PaymentGateway {
  if (payment.gateway === 'midtrans') return new MidtransGateway(payment);
  if (nodeEnv === 'production') throw new Error('the simulator would let anyone pay for nothing');
  return simulator;
}

/** Modules with the gateway's own pages: the simulator's; with a real gateway none exist. */
export function gatewayPages({ payment, nodeEnv }: Pick<Env, 'payment' | 'nodeEnv'>): Type[] {
  return payment.gateway === 'simulator' && nodeEnv !== 'production' ? [SimulatorPageModule] : [];
}
