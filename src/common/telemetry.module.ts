import { Global, Module } from '@nestjs/common';
import { Telemetry } from './telemetry.js';

/** Global because whoever has something to tell would otherwise have to import it. */
@Global()
@Module({ providers: [Telemetry], exports: [Telemetry] })
export class TelemetryModule {}
