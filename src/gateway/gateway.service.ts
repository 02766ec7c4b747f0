import { Injectable } from '@nestjs/common';
import { Env } from '../config/env.js';
import { isSignedBy, type SignedFields } from './signature.js';

/** What other modules may ask of the payment gateway's account. */
@Injectable()
export class GatewayService {
  constructor(private readonly env: Env) {}

  /** Whether a notification's fields were signed with the account's server key; in constant time. */
  isSigned(fields: SignedFields, signature: string): boolean {
    return isSignedBy(fields, signature, this.env.payment.serverKey);
  }
}
