import { Module, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Env } from '../config/env.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { JobsService } from '../jobs/jobs.service.js';
import { MailModule } from '../mail/mail.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccessGuard, JwtCookieStrategy } from './access.guard.js';
import { AccountMailsService } from './account-mails.service.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { AttemptCounts } from './attempt-counts.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { ClientTurns } from './client-turns.js';
import { LimitsService } from './limits.service.js';
import { OneTimePassword } from './otp.entity.js';
import { OtpService } from './otp.service.js';
import { RouteAccessCheck } from './route-access-check.js';
import { SessionsModule } from './sessions.module.js';
import { SessionsService } from './sessions.service.js';

const HOURLY = '17 * * * *';

@Module({
  imports: [
    TypeOrmModule.forFeature([OneTimePassword]),
    DiscoveryModule,
    SessionsModule,
    UsersModule,
    MailModule,
    JobsModule,
  ],
  controllers: [AuthController, AccountController],
  providers: [
    AccessGuard,
    AccountMailsService,
    AccountService,
    AttemptCounts,
    AuthService,
    ClientTurns,
    JwtCookieStrategy,
    LimitsService,
    OtpService,
    RouteAccessCheck,
  ],
  exports: [AccessGuard],
})
export class AuthModule implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly env: Env,
    private readonly admins: AdminAccountsService,
    private readonly jobs: JobsService,
    private readonly sessions: SessionsService,
    private readonly counts: AttemptCounts,
  ) {}

  onModuleInit(): void {
    this.jobs.repeat('remove-expired-sessions', HOURLY, () => this.sessions.removeExpired());
    this.jobs.repeat('sweep-attempt-counts', HOURLY, () => this.counts.removeExpired());
  }

  async onApplicationBootstrap(): Promise<void> {
    const { adminEmail, adminPassword } = this.env;
    if (adminEmail !== undefined && adminPassword !== undefined)
      await this.admins.ensureAdmin(adminEmail, adminPassword);
    await this.admins.warnIfNoAdmin();
  }
}
