import { applyDecorators } from '@nestjs/common';
import { ApiProperty, PickType } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty, IsString, ValidateBy, type ValidationArguments } from 'class-validator';
import { AsciiDomain } from '../config/ascii-domain.js';
import { Text, type TextRules } from '../common/text.decorator.js';

/** Valid in a quoted local part, but mail servers reject them. */
const CONTROL_CHARACTERS = '\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029';
const CONFIRMATION = { message: 'password confirmation is required' };

export const PASSWORD: TextRules = {
  maxLength: 1024,
  trim: false,
  example: 'kue lapis legit',
};

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

/** Body of POST /api/register (contract 4.1). Of several rules of a field, the lowest is checked first. */
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
