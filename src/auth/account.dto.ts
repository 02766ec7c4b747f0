import { ApiProperty, ApiPropertyOptional, IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsEmail, IsNotEmpty, IsString, ValidateBy, ValidateIf } from 'class-validator';
import { Text, type TextRules } from '../common/text.decorator.js';
import { ConvertDomainToAscii } from '../config/ascii-domain.js';
import { UserWithRoleView } from '../users/users.dto.js';
import type { Account } from '../users/users.service.js';

/** Regular-expression ranges. RFC 5322 allows these characters in a quoted local part, but mail servers reject them. */
const CONTROL_CHARACTERS = '\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029';
const CONFIRMATION = { message: 'password confirmation is required' };

const PASSWORD: TextRules = { maxLength: 1024, trim: false, example: 'kue lapis legit' };

/** The rules of a field are checked from the lowest decorator to the highest. The response reports the first that fails. */
export class RegisterDto {
  @IsEmail({ blacklisted_chars: CONTROL_CHARACTERS }, { message: 'your email format is invalid' })
  @Text({ maxLength: 254, example: 'ayu@example.com' })
  @ConvertDomainToAscii()
  email!: string;

  @Text({ maxLength: 255, isSingleLine: true, example: 'Ayu Lestari' })
  fullname!: string;

  @Text(PASSWORD)
  password!: string;

  @ApiProperty({ description: 'Must equal password', example: PASSWORD.example })
  @ValidateBy({
    name: 'equalsPassword',
    validator: {
      validate: (value, args) => value === (args?.object as RegisterDto).password,
      defaultMessage: () => 'password confirmation does not match',
    },
  })
  @IsNotEmpty(CONFIRMATION)
  @IsString(CONFIRMATION)
  passwordConfirmation!: string;
}

export class LoginDto extends PickType(RegisterDto, ['email', 'password']) {}

export class VerifyOtpDto {
  @Text({ maxLength: 64, example: '042917' })
  // A code that is sent as a number has lost its leading zeros.
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'number' ? String(value).padStart(6, '0') : value,
  )
  otp!: string;
}

/** `email` and `fullname` may be absent, but not null or empty. `email` requires `password`. */
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

export class ResetPasswordDto extends IntersectionType(
  PickType(RegisterDto, ['email', 'password', 'passwordConfirmation']),
  VerifyOtpDto,
) {}

/** User in the response of POST /api/otp/verify. */
export class VerifiedUserView extends UserWithRoleView {
  @ApiProperty({ example: true })
  readonly emailVerified: boolean;

  constructor(user: Account) {
    super(user);
    this.emailVerified = user.emailVerifiedAt !== null;
  }
}
