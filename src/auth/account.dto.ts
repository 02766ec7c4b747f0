import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import type { Principal } from '../common/current-user.decorator.js';
import { Text } from '../common/text.decorator.js';
import { UserWithRoleView } from '../users/users.dto.js';
import { PASSWORD, RegisterDto } from './auth.dto.js';

/** A code of six digits. A client may send it as a number, which has lost its leading zeros. */
const Otp = (): PropertyDecorator =>
  applyDecorators(
    Text({ maxLength: 64, example: '042917' }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'number' ? String(value).padStart(6, '0') : value,
    ),
  );

/** Body of POST /api/otp/verify. */
export class VerifyOtpDto {
  @Otp()
  otp!: string;
}

/** Body of PATCH /api/users. A field may be left out, but not be null or empty. */
export class UpdateProfileDto extends PartialType(PickType(RegisterDto, ['email', 'fullname']), {
  skipNullProperties: false,
}) {
  @ValidateIf(({ email, password }: UpdateProfileDto) => email !== undefined || password !== undefined)
  @Text(PASSWORD)
  @ApiPropertyOptional({ description: 'The current password; needed to change the e-mail' })
  password?: string;
}

/** Body of PUT /api/users/password. */
export class ChangePasswordDto extends PickType(RegisterDto, ['password', 'passwordConfirmation']) {
  @Text({ ...PASSWORD, label: 'current password' })
  currentPassword!: string;
}

/** Body of POST /api/password/forgot. */
export class ForgotPasswordDto extends PickType(RegisterDto, ['email']) {}

/** Body of POST /api/password/reset. */
export class ResetPasswordDto extends PickType(RegisterDto, ['email', 'password', 'passwordConfirmation']) {
  @Otp()
  otp!: string;
}

/** A user as POST /api/otp/verify shows it. */
export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  constructor(user: Principal & { readonly emailVerifiedAt: Date | null }) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
