import { Body, Controller, Get, Patch, Post, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type AuthUser, CurrentUser } from '../common/access.js';
import { failures } from '../common/errors/failures.js';
import { type Client, CurrentClient } from '../common/http/client.decorator.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { UserView, UserWithRoleView } from '../users/users.dto.js';
import {
  ChangePasswordDto,
  ForgotPasswordDto,
  ResetPasswordDto,
  UpdateProfileDto,
  VerifiedUserView,
  VerifyOtpDto,
} from './account.dto.js';
import { AccountService } from './account.service.js';
import { BOTH_COOKIES, setCookies } from './cookies.js';

@ApiTags('Accounts')
@Controller()
export class AccountController {
  constructor(private readonly account: AccountService) {}

  @ApiEndpoint({
    summary: 'Return the signed-in user, as in the access token',
    access: 'user',
    success: { status: 200, data: { user: UserView } },
  })
  @Get('users')
  currentUser(@CurrentUser() authUser: AuthUser): { user: UserView } {
    return { user: new UserView(authUser) };
  }

  @ApiEndpoint({
    summary: 'Mail a new verification code',
    description:
      'At most one mail a minute and ten an hour. Further calls return the same status and send nothing.',
    access: 'user',
    success: { status: 204 },
  })
  @Post('otp')
  async sendOtp(@CurrentUser() authUser: AuthUser, @CurrentClient() client: Client): Promise<void> {
    await this.account.sendOtp(authUser, client);
  }

  @ApiEndpoint({
    summary: 'Verify the email address with the mailed code',
    description:
      'A code is valid for 10 minutes and one use, and for 5 wrong tries from one client address. After 20 tries in total, only ' +
      'addresses that requested the code or that the owner has used can still try.',
    access: 'user',
    success: { status: 200, data: { user: VerifiedUserView } },
    failures: [failures.validation({ otp: 'otp is required' }), failures.invalidOtp()],
    takes: 'json',
  })
  @Post('otp/verify')
  async verifyOtp(
    @CurrentUser() authUser: AuthUser,
    @Body() { otp }: VerifyOtpDto,
    @CurrentClient() client: Client,
  ) {
    const user = await this.account.verifyEmail(authUser, otp, client);
    return { user: new VerifiedUserView(user) };
  }

  @ApiEndpoint({
    summary: 'Change name, email or language',
    description:
      'A change of the name sets a new access cookie. A change of the email sets both cookies, ends all other sessions and ' +
      'sends a code to the new address.',
    access: 'user',
    success: { status: 200, data: { user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [
      failures.validation({ email: 'your email format is invalid' }),
      failures.wrongCredentials(),
      failures.emailTaken(),
    ],
    takes: 'json',
  })
  @Patch('users')
  async updateProfile(
    @CurrentUser() authUser: AuthUser,
    @Body() body: UpdateProfileDto,
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { user, tokens } = await this.account.updateProfile(authUser, body, client);
    if (tokens !== null) setCookies(response, tokens);
    return { user: new UserWithRoleView(user) };
  }

  @ApiEndpoint({
    summary: 'Change the password',
    description: 'Sets new cookies and ends all other sessions.',
    access: 'user',
    success: { status: 204, cookies: BOTH_COOKIES },
    failures: [
      failures.validation({ passwordConfirmation: 'password confirmation does not match' }),
      failures.wrongCredentials(),
    ],
    takes: 'json',
  })
  @Put('users/password')
  async changePassword(
    @CurrentUser() authUser: AuthUser,
    @Body() body: ChangePasswordDto,
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const tokens = await this.account.changePassword(authUser, body, client);
    setCookies(response, tokens);
  }

  @ApiEndpoint({
    summary: 'Mail a code to set a new password',
    description: 'The response is the same if the account does not exist.',
    access: 'public',
    success: { status: 204 },
    failures: [failures.validation({ email: 'email is required' })],
    takes: 'json',
  })
  @Post('password/forgot')
  async forgotPassword(@Body() { email }: ForgotPasswordDto, @CurrentClient() client: Client) {
    await this.account.requestReset(email, client);
  }

  @ApiEndpoint({
    summary: 'Set a new password with the mailed code',
    description: 'Ends all sessions.',
    access: 'public',
    success: { status: 204 },
    failures: [failures.validation({ otp: 'otp is required' }), failures.invalidOtp()],
    takes: 'json',
  })
  @Post('password/reset')
  async resetPassword(@Body() body: ResetPasswordDto, @CurrentClient() client: Client): Promise<void> {
    await this.account.resetPassword(body, client);
  }
}
