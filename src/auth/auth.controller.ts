import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { failures } from '../common/errors.js';
import { ApiEndpoint } from '../common/api-endpoint.decorator.js';
import { UserView, UserWithRoleView } from '../users/users.dto.js';
import { LoginDto, RegisterDto } from './account.dto.js';
import { AuthService } from './auth.service.js';
import { ClientAddress } from './client-address.decorator.js';
import {
  ACCESS_COOKIE,
  BOTH_COOKIES,
  clearCookies,
  readCookie,
  REFRESH_COOKIE,
  setCookies,
} from './cookies.js';

@ApiTags('Accounts')
@Controller()
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Post('register')
  @ApiEndpoint({
    summary: 'Create an account and sign in',
    description: 'The role is always USER. A code to verify the e-mail is sent to the address.',
    access: 'public',
    success: { status: 201, data: { user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [failures.validation({ email: 'your email format is invalid' }), failures.emailTaken()],
    takes: 'json',
  })
  async register(
    @Body() body: RegisterDto,
    @ClientAddress() address: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const session = await this.auth.register(body, address);
    setCookies(response, session);
    return { user: new UserWithRoleView(session.caller) };
  }

  @Post('login')
  @ApiEndpoint({
    summary: 'Sign in',
    description:
      '`users` and `user` contain the signed-in user. A login beyond SESSIONS_PER_ACCOUNT drops the oldest refresh token.',
    access: 'public',
    success: { status: 200, data: { users: UserView, user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [failures.validation({ password: 'password is required' }), failures.credentials()],
    takes: 'json',
  })
  async login(
    @Body() body: LoginDto,
    @ClientAddress() address: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const session = await this.auth.login(body, address);
    setCookies(response, session);
    return { users: new UserView(session.caller), user: new UserWithRoleView(session.caller) };
  }

  @Get('refresh')
  @ApiEndpoint({
    summary: 'Get a new access cookie',
    description: 'Call this after a 401, then repeat the request. The refresh token does not change.',
    access: 'refresh cookie',
    success: { status: 200, data: { user: UserWithRoleView }, cookies: [ACCESS_COOKIE] },
    failures: [failures.missingRefreshToken(), failures.refreshToken()],
  })
  async refresh(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    // This header is for failures. After a success, `setCookies` replaces the header.
    response.setHeader('Cache-Control', 'private, no-cache');
    const session = await this.auth.refresh(readCookie(request, REFRESH_COOKIE));
    setCookies(response, session);
    return { user: new UserWithRoleView(session.caller) };
  }

  @Post('logout')
  @ApiEndpoint({
    summary: 'Sign out',
    description:
      'Clears both cookies. Ends the session of the access cookie, even if the token in the cookie has expired.',
    access: 'public',
    usesAccessCookie: true,
    success: { status: 204, cookies: BOTH_COOKIES },
    changesStateWithoutBody: true,
  })
  async logout(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.auth.logout(readCookie(request, ACCESS_COOKIE));
    clearCookies(response);
  }
}
