import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import type { Principal } from '../common/current-user.decorator.js';
import { Text } from '../common/text.decorator.js';
import { UserWithRoleView } from '../users/users.dto.js';
import { PASSWORD, RegisterDto } from './auth.dto.js';

/** Validates a code of six digits. A code that is sent as a number has lost its leading zeros. */
const Otp = (): PropertyDecorator =>
  applyDecorators(
    Text({ maxLength: 64, example: '042917' }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'number' ? String(value).padStart(6, '0') : value,
    ),
  );

export class VerifyOtpDto {
  @Otp()
  otp!: string;
}

/** A field may be absent, but not null or empty. */
export class UpdateProfileDto extends PartialType(PickType(RegisterDto, ['email', 'fullname']), {
  skipNullProperties: false,
}) {
  @ValidateIf(({ email, password }: UpdateProfileDto) => email !== undefined || password !== undefined)
  @Text(PASSWORD)
  @ApiPropertyOptional({ description: 'The current password; required to change the e-mail' })
  password?: string;
}

export class ChangePasswordDto extends PickType(RegisterDto, ['password', 'passwordConfirmation']) {
  @Text({ ...PASSWORD, label: 'current password' })
  currentPassword!: string;
}

export class ForgotPasswordDto extends PickType(RegisterDto, ['email']) {}

export class ResetPasswordDto extends PickType(RegisterDto, ['email', 'password', 'passwordConfirmation']) {
  @Otp()
  otp!: string;
}

/** User in the response of POST /api/otp/verify. */
export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  constructor(user: Principal & { readonly emailVerifiedAt: Date | null }) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
