import { Body, Controller, Get, Patch, Post, Put, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, CurrentUser, type Principal } from '../common/current-user.decorator.js';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
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
import { ClientAddress } from './client-address.decorator.js';
import { BOTH_COOKIES, setCookies } from './cookies.js';
import { OtpMailsService } from './otp-mails.service.js';

@ApiTags('Accounts')
@Controller()
export class AccountController {
  constructor(
    private readonly account: AccountService,
    private readonly otpMails: OtpMailsService,
  ) {}

  @Get('users')
  @ApiEndpoint({
    summary: 'Get the signed-in user from the access token',
    access: 'user',
    success: { status: 200, data: { user: UserView } },
  })
  currentUser(@CurrentUser() caller: Principal): { user: UserView } {
    return { user: new UserView(caller) };
  }

  @Post('otp')
  @ApiEndpoint({
    summary: 'Mail a new verification code',
    description:
      'At most one mail a minute and ten an hour. Further calls return the same status and send nothing.',
    access: 'user',
    success: { status: 204 },
    changesStateWithoutBody: true,
  })
  async sendOtp(@CurrentUser() caller: Caller, @ClientAddress() address: string): Promise<void> {
    await this.account.sendOtp(caller, address);
  }

  @Post('otp/verify')
  @ApiEndpoint({
    summary: 'Verify the e-mail address with the mailed code',
    description: 'A code is valid for 10 minutes, 5 wrong tries and one use.',
    access: 'user',
    success: { status: 200, data: { user: VerifiedUserView } },
    failures: [failures.validation({ otp: 'otp is required' }), failures.invalidOtp()],
    takes: 'json',
  })
  async verifyOtp(
    @CurrentUser() caller: Caller,
    @Body() { otp }: VerifyOtpDto,
    @ClientAddress() address: string,
  ) {
    return { user: new VerifiedUserView(await this.account.verifyEmail(caller, otp, address)) };
  }

  @Patch('users')
  @ApiEndpoint({
    summary: 'Change name or e-mail',
    description: 'A code is sent to a new e-mail. A change sets new cookies and ends all other sessions.',
    access: 'user',
    success: { status: 200, data: { user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [
      failures.validation({ email: 'your email format is invalid' }),
      failures.credentials(),
      failures.emailTaken(),
    ],
    takes: 'json',
  })
  async updateProfile(
    @CurrentUser() caller: Caller,
    @Body() body: UpdateProfileDto,
    @ClientAddress() address: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { user, session } = await this.account.updateProfile(caller, body, address);
    if (session !== null) setCookies(response, session);
    return { user: new UserWithRoleView(user) };
  }

  @Put('users/password')
  @ApiEndpoint({
    summary: 'Change the password',
    description: 'Sets new cookies and ends all other sessions.',
    access: 'user',
    success: { status: 204, cookies: BOTH_COOKIES },
    failures: [
      failures.validation({ passwordConfirmation: 'password confirmation does not match' }),
      failures.credentials(),
    ],
    takes: 'json',
  })
  async changePassword(
    @CurrentUser() caller: Principal,
    @Body() body: ChangePasswordDto,
    @ClientAddress() address: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    setCookies(response, await this.account.changePassword(caller, body, address));
  }

  @Post('password/forgot')
  @ApiEndpoint({
    summary: 'Mail a code to set a new password',
    description: 'The response is the same if the account does not exist.',
    access: 'public',
    success: { status: 204 },
    failures: [failures.validation({ email: 'email is required' })],
    takes: 'json',
  })
  async forgotPassword(@Body() { email }: ForgotPasswordDto, @ClientAddress() address: string) {
    await this.otpMails.requestReset(email, address);
  }

  @Post('password/reset')
  @ApiEndpoint({
    summary: 'Set a new password with the mailed code',
    description: 'Ends all sessions.',
    access: 'public',
    success: { status: 204 },
    failures: [failures.validation({ otp: 'otp is required' }), failures.invalidOtp()],
    takes: 'json',
  })
  async resetPassword(@Body() body: ResetPasswordDto, @ClientAddress() address: string): Promise<void> {
    await this.account.resetPassword(body, address);
  }
}
