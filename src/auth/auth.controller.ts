import { Body, Controller, Cookies, Get, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { failures } from '../common/errors/failures.js';
import { type Client, CurrentClient } from '../common/http/client.decorator.js';
import { findPreferredLanguage } from '../common/languages.js';
import { ApiEndpoint } from '../common/openapi/api-endpoint.decorator.js';
import { UserView, UserWithRoleView } from '../users/users.dto.js';
import { LoginDto, RegisterDto } from './account.dto.js';
import { AuthService } from './auth.service.js';
import { ACCESS_COOKIE, BOTH_COOKIES, clearCookies, REFRESH_COOKIE, setCookies } from './cookies.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Accounts')
@Controller()
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly sessions: SessionsService,
  ) {}

  @ApiEndpoint({
    summary: 'Create an account and sign in',
    description:
      'The role is always USER. A code to verify the email is sent to the address. Mails are in the language that ' +
      '`Accept-Language` prefers: Indonesian, English, or otherwise that of the shop.',
    access: 'public',
    success: { status: 201, data: { user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [failures.validation({ email: 'your email format is invalid' }), failures.emailTaken()],
    takes: 'json',
  })
  @Post('register')
  async register(
    @Body() body: RegisterDto,
    @Req() request: Request,
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ) {
    const tokens = await this.auth.register(body, findPreferredLanguage(request), client);
    setCookies(response, tokens);
    return { user: new UserWithRoleView(tokens.user) };
  }

  @ApiEndpoint({
    summary: 'Sign in',
    description:
      '`users` is kept for old clients. A login beyond SESSIONS_PER_ACCOUNT drops the oldest refresh token.',
    access: 'public',
    success: { status: 200, data: { users: UserView, user: UserWithRoleView }, cookies: BOTH_COOKIES },
    failures: [failures.validation({ password: 'password is required' }), failures.wrongCredentials()],
    takes: 'json',
  })
  @Post('login')
  async login(
    @Body() body: LoginDto,
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ) {
    const tokens = await this.auth.login(body, client);
    setCookies(response, tokens);
    return { users: new UserView(tokens.user), user: new UserWithRoleView(tokens.user) };
  }

  @ApiEndpoint({
    summary: 'Return a new access cookie',
    description:
      'Call this after a 401, then repeat the request. The token has the current name, email and role. The refresh token ' +
      'does not change.',
    access: 'public',
    security: [{ refreshToken: [] }],
    success: { status: 200, data: { user: UserWithRoleView }, cookies: [ACCESS_COOKIE] },
    failures: [failures.missingRefreshToken(), failures.invalidRefreshToken()],
  })
  @Get('refresh')
  async refresh(@Cookies(REFRESH_COOKIE) refreshToken = '', @Res({ passthrough: true }) response: Response) {
    if (refreshToken === '') throw failures.missingRefreshToken();
    const tokens = await this.sessions.refresh(refreshToken);
    setCookies(response, tokens);
    return { user: new UserWithRoleView(tokens.user) };
  }

  @ApiEndpoint({
    summary: 'Sign out',
    description:
      'Clears both cookies. Ends the session of the access cookie, even if the token in the cookie has expired.',
    access: 'public',
    security: [{ accessToken: [] }, {}],
    success: { status: 204, cookies: BOTH_COOKIES },
  })
  @Post('logout')
  async logout(
    @Cookies(ACCESS_COOKIE) accessToken = '',
    @CurrentClient() client: Client,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.auth.logout(accessToken, client);
    clearCookies(response);
  }
}
