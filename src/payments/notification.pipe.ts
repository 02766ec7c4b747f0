import { createParamDecorator, Injectable } from '@nestjs/common';
import type { ExecutionContext, PipeTransform, RawBodyRequest } from '@nestjs/common';
import type { Request } from 'express';
import { type FieldMessages, failures } from '../common/errors/failures.js';
import { checkDto } from '../common/validation/validation.pipe.js';
import { PaymentNotificationDto } from './payments.dto.js';

type NotificationRequest = RawBodyRequest<Request>;

/** A received notification, valid or not. An interface, because the global pipe would validate a class. */
export interface ReceivedNotification {
  readonly notification: PaymentNotificationDto;
  /** Body as received. */
  readonly payload: string;
  /** Messages of the invalid fields; null if every field is valid. */
  readonly problems: FieldMessages | null;
}

/** Injects the request into `NotificationPipe`. */
export const NotificationBody = createParamDecorator((_: undefined, context: ExecutionContext) =>
  context.switchToHttp().getRequest<NotificationRequest>(),
);

/** Collects the problems of fields without throwing, because the service records invalid notifications that are signed. */
@Injectable()
export class NotificationPipe implements PipeTransform<NotificationRequest, Promise<ReceivedNotification>> {
  async transform({ body, rawBody }: NotificationRequest): Promise<ReceivedNotification> {
    const payload = rawBody?.toString() ?? '';
    // PostgreSQL cannot store U+0000. Only JSON in UTF-16 or UTF-32, which the parser also accepts, contains zero bytes.
    if (payload.includes('\0')) throw failures.unsupportedEncoding();
    const { value: notification, details: problems } = await checkDto(PaymentNotificationDto, body);
    return { notification, payload, problems };
  }
}
