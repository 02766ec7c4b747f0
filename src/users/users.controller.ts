import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentUser, type Principal } from '../common/current-user.decorator.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { UserView } from './users.dto.js';

@ApiTags('Accounts')
@Controller('users')
export class UsersController {
  @Get()
  @ApiEndpoint({
    summary: 'The signed-in user, as the access token says',
    access: 'user',
    success: { status: 200, data: { user: UserView } },
  })
  currentUser(@CurrentUser() principal: Principal): { user: UserView } {
    return { user: new UserView(principal) };
  }
}
