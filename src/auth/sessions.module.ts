import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../users/users.module.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { Session } from './session.entity.js';
import { SessionsService } from './sessions.service.js';
import { TokensService } from './tokens.service.js';

/** Separate from `AuthModule`, which also creates the administrator of ADMIN_EMAIL. `npm run admin` must not do that. */
@Module({
  imports: [TypeOrmModule.forFeature([Session]), UsersModule],
  providers: [AdminAccountsService, SessionsService, TokensService],
  exports: [AdminAccountsService, SessionsService],
})
export class SessionsModule {}
