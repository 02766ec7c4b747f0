import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { IsCalendarDate, isExistingDate } from '../common/calendar.js';
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

/** Returns true also without a valid beginning, which has a message of its own. */
function isEndOfRange(to: unknown, range?: ValidationArguments): boolean {
  const { from } = range?.object as ClosedRangeDto;
  return !isExistingDate(from) || String(to) >= from;
}
