import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { AdminAccountsService } from './admin-accounts.service.js';
import { SessionsModule } from './sessions.module.js';

@Module({
  imports: [UsersModule, SessionsModule],
  providers: [AdminAccountsService],
  exports: [AdminAccountsService],
})
export class AdminAccountsModule {}
