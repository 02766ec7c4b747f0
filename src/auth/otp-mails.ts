import type { Mail, Recipient } from '../mail/mail.service.js';
import type { OtpPurpose } from './otp.entity.js';

const NOT_A_CUSTOMER =
  'If you have no account at our bakery, someone mistyped their address: ignore this mail.';

const TEXTS: Readonly<Record<OtpPurpose | 'new_email', { subject: string; intro: string; note: string }>> = {
  verify_email: {
    subject: 'Your verification code',
    intro: 'the code that verifies your e-mail address at our bakery is',
    note: NOT_A_CUSTOMER,
  },
  new_email: {
    subject: 'Verify your new e-mail address',
    intro:
      'this address was entered as the new e-mail address of your account at our bakery. The code that verifies it is',
    note: `You log in with this address from now on. ${NOT_A_CUSTOMER}`,
  },
  reset_password: {
    subject: 'Your password reset code',
    intro: 'the code to set a new password for your account at our bakery is',
    note: 'If you did not ask for it, ignore this mail: your password stays as it is. Do not give the code to anyone.',
  },
};

/** A code is valid for this time. */
export const OTP_MINUTES = 10;

export function writeOtpMail(to: Recipient, kind: keyof typeof TEXTS, code: string): Mail {
  const { subject, ...texts } = TEXTS[kind];
  return { to, subject, template: 'one-time-password', context: { ...texts, code, minutes: OTP_MINUTES } };
}
