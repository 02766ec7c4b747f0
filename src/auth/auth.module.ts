import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { MailModule } from '../mail/mail.module.js';
import { UsersModule } from '../users/users.module.js';
import { JwtCookieStrategy } from './access.guard.js';
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
import { Session } from './session.entity.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([OneTimePassword, Session]),
    DiscoveryModule,
    UsersModule,
    MailModule,
    JobsModule,
  ],
  controllers: [AuthController, AccountController],
  providers: [
    AccountMailsService,
    AccountService,
    AdminAccountsService,
    AttemptCounts,
    AuthService,
    ClientTurns,
    JwtCookieStrategy,
    LimitsService,
    OtpService,
    RouteAccessCheck,
    SessionsService,
  ],
  exports: [AdminAccountsService],
})
export class AuthModule {}
