import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsEmail,
  IsNotEmpty,
  IsString,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
} from 'class-validator';
import type { Principal } from '../common/current-user.decorator.js';
import { Text, type TextRules } from '../common/text.decorator.js';
import { AsciiDomain } from '../config/ascii-domain.js';
import { UserWithRoleView } from '../users/users.dto.js';

/** Valid in a quoted local part, but mail servers reject them. */
const CONTROL_CHARACTERS = '\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029';
const CONFIRMATION = { message: 'password confirmation is required' };

const PASSWORD: TextRules = { maxLength: 1024, trim: false, example: 'kue lapis legit' };

function EqualsPassword(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, description: 'Must equal password', example: PASSWORD.example }),
    ValidateBy({
      name: 'equalsPassword',
      validator: {
        validate: (value, { object }: ValidationArguments) =>
          'password' in object && value === object.password,
        defaultMessage: () => 'password confirmation does not match',
      },
    }),
  );
}

/** class-validator checks the decorators of a field from the lowest to the highest. */
export class RegisterDto {
  @IsEmail({ blacklisted_chars: CONTROL_CHARACTERS }, { message: 'your email format is invalid' })
  @Text({ maxLength: 254, example: 'ayu@example.com' })
  @AsciiDomain()
  email!: string;

  @Text({ maxLength: 255, isSingleLine: true, example: 'Ayu Lestari' })
  fullname!: string;

  @Text(PASSWORD)
  password!: string;

  @EqualsPassword()
  @IsNotEmpty(CONFIRMATION)
  @IsString(CONFIRMATION)
  passwordConfirmation!: string;
}

export class LoginDto extends PickType(RegisterDto, ['email', 'password']) {}

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

export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  constructor(user: Principal & { readonly emailVerifiedAt: Date | null }) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
