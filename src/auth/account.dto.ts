import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import { type Principal, type Role, ROLES } from '../common/current-user.decorator.js';
import { Text } from '../common/text.decorator.js';
import { UserWithRoleView } from '../users/users.dto.js';
import { Email, Fullname, Password, PasswordConfirmation } from './auth.dto.js';

/** A field that may be left out, but not be sent empty. */
const IfGiven = (field: string): PropertyDecorator =>
  ValidateIf((dto: Readonly<Record<string, unknown>>) => dto[field] !== undefined);

/** A code of six digits. A client may send it as a number, which has lost its leading zeros. */
const Otp = (): PropertyDecorator =>
  applyDecorators(
    Text({ required: 'otp is required', label: 'otp', maxLength: 64, example: '042917' }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'number' ? String(value).padStart(6, '0') : value,
    ),
  );

/** Body of POST /api/otp/verify. */
export class VerifyOtpDto {
  @Otp()
  otp!: string;
}

/** Body of PATCH /api/users. */
export class UpdateProfileDto {
  @IfGiven('fullname')
  @Fullname()
  @ApiPropertyOptional()
  fullname?: string;

  @IfGiven('email')
  @Email()
  @ApiPropertyOptional()
  email?: string;

  /** The current password; needed to change the e-mail. */
  @ValidateIf(({ email, password }: UpdateProfileDto) => email !== undefined || password !== undefined)
  @Password()
  @ApiPropertyOptional({ description: 'The current password; needed to change the e-mail' })
  password?: string;
}

/** Body of PUT /api/users/password. */
export class ChangePasswordDto {
  @Password('current password is required')
  currentPassword!: string;

  @Password()
  password!: string;

  @PasswordConfirmation()
  passwordConfirmation!: string;
}

/** Body of POST /api/password/forgot. */
export class ForgotPasswordDto {
  @Email()
  email!: string;
}

/** Body of POST /api/password/reset. */
export class ResetPasswordDto {
  @Email()
  email!: string;

  @Otp()
  otp!: string;

  @Password()
  password!: string;

  @PasswordConfirmation()
  passwordConfirmation!: string;
}

/** A user as POST /api/otp/verify shows it. */
export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  @ApiProperty({ enum: ROLES, example: 'USER' })
  declare readonly role: Role;

  constructor(user: Principal & { readonly emailVerifiedAt: Date | null }) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
