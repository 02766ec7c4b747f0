import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../jobs/jobs.module.js';
import { MailModule } from '../mail/mail.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { AdminBootstrapService } from './admin-bootstrap.service.js';
import { AdminGuard } from './admin.guard.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { JwtCookieGuard } from './jwt-cookie.guard.js';
import { JwtCookieStrategy } from './jwt-cookie.strategy.js';
import { LimitsService } from './limits.service.js';
import { OneTimePassword } from './otp.entity.js';
import { OtpService } from './otp.service.js';
import { PasswordsService } from './passwords.service.js';
import { TokensService } from './tokens.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([OneTimePassword]), PassportModule, UsersModule, MailModule, JobsModule],
  controllers: [AuthController, AccountController],
  providers: [
    AccountService,
    AdminAccountsService,
    AdminBootstrapService,
    AdminGuard,
    AuthService,
    JwtCookieGuard,
    JwtCookieStrategy,
    LimitsService,
    OtpService,
    PasswordsService,
    TokensService,
  ],
  exports: [AdminGuard, JwtCookieGuard, TokensService],
})
export class AuthModule {}
