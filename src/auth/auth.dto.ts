import { ApiProperty } from '@nestjs/swagger';
import { isEmail, ValidateBy } from 'class-validator';
import { Text } from '../common/text.decorator.js';

/** Line breaks and other control characters are valid in a quoted local part, but no mail server takes them. */
const isMailbox = (text: string): boolean => isEmail(text) && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);

export const Email = (): PropertyDecorator =>
  Text({
    required: 'email is required',
    label: 'email',
    maxLength: 254,
    example: 'ayu@example.com',
    format: { test: isMailbox, message: 'your email format is invalid' },
  });

export const Fullname = (): PropertyDecorator =>
  Text({ required: 'fullname is required', label: 'fullname', maxLength: 255, example: 'Ayu Lestari' });

export const Password = (required = 'password is required'): PropertyDecorator =>
  Text({ required, label: 'password', maxLength: 1024, trim: false, example: 'kue lapis legit' });

/** A second typing of `password`. */
export const PasswordConfirmation = (): PropertyDecorator => (target, property) => {
  ApiProperty({ type: String, description: 'Must equal password', example: 'kue lapis legit' })(
    target,
    property,
  );
  const problem = (value: unknown, password: unknown): string | null => {
    if (typeof value !== 'string' || value === '') return 'password confirmation is required';
    return value === password ? null : 'password confirmation does not match';
  };
  ValidateBy({
    name: 'passwordConfirmation',
    validator: {
      validate: (value, argument) => problem(value, passwordOf(argument?.object)) === null,
      defaultMessage: (argument) => problem(argument?.value, passwordOf(argument?.object)) ?? '',
    },
  })(target, property);
};

function passwordOf(dto: object | undefined): unknown {
  return dto !== undefined && 'password' in dto ? dto.password : undefined;
}

/** Body of POST /api/register (interface.md 4.1). */
export class RegisterDto {
  @Email()
  email!: string;

  @Fullname()
  fullname!: string;

  @Password()
  password!: string;

  @PasswordConfirmation()
  passwordConfirmation!: string;
}

/** Body of POST /api/login (interface.md 4.2). */
export class LoginDto {
  @Email()
  email!: string;

  @Password()
  password!: string;
}
