import { ApiProperty, ApiPropertyOptional, IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsIn,
  IsNotEmpty,
  IsString,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { type Language, LANGUAGES, UNKNOWN_LANGUAGE } from '../common/languages.js';
import { EmailAddress } from '../common/validation/email-address.decorator.js';
import { Text, type TextRules } from '../common/validation/text.decorator.js';
import type { User } from '../users/user.entity.js';
import { UserWithRoleView } from '../users/users.dto.js';

const CONFIRMATION_REQUIRED = { message: 'password confirmation is required' };

function EqualsProperty(other: string, options: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown, args?: ValidationArguments): boolean =>
    value === (args?.object as Readonly<Record<string, unknown>>)[other];
  return ValidateBy({ name: 'equalsProperty', validator: { validate } }, options);
}

const PASSWORD: TextRules = { maxLength: 1024, trim: false, example: 'kue lapis legit' };

export class RegisterDto {
  @EmailAddress()
  email!: string;

  @Text({ maxLength: 255, isSingleLine: true, example: 'Ayu Lestari' })
  fullname!: string;

  @Text(PASSWORD)
  password!: string;

  @ApiProperty({ description: 'Must equal password', example: PASSWORD.example })
  @EqualsProperty('password', { message: 'password confirmation does not match' })
  @IsNotEmpty(CONFIRMATION_REQUIRED)
  @IsString(CONFIRMATION_REQUIRED)
  passwordConfirmation!: string;
}

export class LoginDto extends PickType(RegisterDto, ['email', 'password']) {}

export class VerifyOtpDto {
  // A code that does not have six digits is wrong. The limit only bounds the work of hashing the code.
  @Text({ maxLength: 64, example: '042917' })
  // A code that is sent as a number has lost its leading zeros.
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'number' ? String(value).padStart(6, '0') : value,
  )
  otp!: string;
}

/** Each field may be absent, but not null or empty. `email` requires `password`. */
export class UpdateProfileDto extends PartialType(PickType(RegisterDto, ['email', 'fullname']), {
  skipNullProperties: false,
}) {
  @ValidateIf(({ email, password }: UpdateProfileDto) => email !== undefined || password !== undefined)
  @Text(PASSWORD)
  @ApiPropertyOptional({ description: 'The current password; required to change the email' })
  password?: string;

  @ValidateIf(({ language }: UpdateProfileDto) => language !== undefined)
  @IsIn(LANGUAGES, { message: UNKNOWN_LANGUAGE })
  @ApiPropertyOptional({ description: 'Language of mails', enum: LANGUAGES, example: 'id' })
  language?: Language;
}

export class ChangePasswordDto extends PickType(RegisterDto, ['password', 'passwordConfirmation']) {
  @Text({ ...PASSWORD, label: 'current password' })
  currentPassword!: string;
}

export class ForgotPasswordDto extends PickType(RegisterDto, ['email']) {}

export class ResetPasswordDto extends IntersectionType(
  PickType(RegisterDto, ['email', 'password', 'passwordConfirmation']),
  VerifyOtpDto,
) {}

/** User in the response of POST /api/otp/verify. */
export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  constructor(user: User) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
