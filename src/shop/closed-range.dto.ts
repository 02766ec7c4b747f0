import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { IsCalendarDate } from '../common/calendar.js';
import { OptionalText } from '../common/validation/text.decorator.js';

const INVALID_END = { message: 'to should not be before from' };

/** Range of dates on which the shop is closed. */
export class ClosedRangeDto {
  @ApiProperty({ format: 'date', example: '2027-03-09' })
  @IsCalendarDate()
  from!: string;

  @ApiProperty({ format: 'date', example: '2027-03-12' })
  @ValidateBy({ name: 'isEndOfRange', validator: { validate: isEndOfRange } }, INVALID_END)
  @IsCalendarDate()
  to!: string;

  @OptionalText({ maxLength: 100, example: 'Lebaran' })
  reason!: string | null;
}

function isEndOfRange(to: unknown, range?: ValidationArguments): boolean {
  return String(to) >= (range?.object as ClosedRangeDto).from;
}
