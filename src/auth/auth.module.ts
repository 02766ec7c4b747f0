import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Env } from '../config/env.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { MailModule } from '../mail/mail.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { AdmissionService } from './admission.service.js';
import { AttemptCounts } from './attempt-counts.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { AdminGuard } from './admin.guard.js';
import { Cleanup } from './cleanup.js';
import { GuessLimitsService } from './guess-limits.service.js';
import { JwtCookieGuard } from './jwt-cookie.guard.js';
import { JwtCookieStrategy } from './jwt-cookie.strategy.js';
import { MailLimitsService } from './mail-limits.service.js';
import { OtpMailsService } from './otp-mails.service.js';
import { OneTimePassword } from './otp.entity.js';
import { OtpService } from './otp.service.js';
import { SessionsModule } from './sessions.module.js';
import { TokensService } from './tokens.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([OneTimePassword]), SessionsModule, UsersModule, MailModule, JobsModule],
  controllers: [AuthController, AccountController],
  providers: [
    AccountService,
    AdminAccountsService,
    AdmissionService,
    AttemptCounts,
    AuthService,
    AdminGuard,
    Cleanup,
    GuessLimitsService,
    JwtCookieGuard,
    JwtCookieStrategy,
    MailLimitsService,
    OtpMailsService,
    OtpService,
    TokensService,
  ],
  exports: [AdminGuard, AdmissionService, JwtCookieGuard],
})
export class AuthModule implements OnApplicationBootstrap {
  constructor(
    private readonly admins: AdminAccountsService,
    private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { admin } = this.env;
    if (admin !== undefined) await this.admins.ensure(admin.email, admin.password);
  }
}
