import { PermanentJobError } from '../src/jobs/job-handler.js';
import { toDeliveryError } from '../src/mail/delivery-error.js';

/** Replies to RCPT TO for an unknown recipient: a bad address, or a mailbox that has moved or is disabled. */
const UNKNOWN_RECIPIENT = [
  ...['550', '551', '553'],
  ...['550 5.1.1', '554 5.1.2', '552 5.1.3', '530 5.1.6', '553 5.1.10', '550 5.2.1'],
];
const OTHER_REPLIES = [
  ...['421', '450', '452', '535', '552', '554', '450 4.1.1', '451 5.1.1'],
  // Codes that begin like those of an unknown recipient, and codes of a bad sender, a full mailbox or a rejected content.
  ...[
    '550 5.1.0',
    '550 5.1.8',
    '550 5.1.11',
    '550 5.2.2',
    '550 5.2.10',
    '552 5.3.4',
    '550 5.7.1',
    '554 5.7.1',
  ],
  // Exim, Postfix and qmail, if the operator has given no login to SMTP_URL. A fixed setting delivers the mail.
  ...['550 relay not permitted', '550 Relaying denied', '553 that domain is not in my list of rcpthosts'],
];

/** Creates an error as nodemailer throws it for a rejected command. */
function createSmtpError(command: string, reply: string): Error {
  const response = `${reply} rejected`;
  return Object.assign(new Error(`Command failed: ${response}`), {
    command,
    responseCode: Number(reply.slice(0, 3)),
    response,
  });
}

describe('a mail whose delivery fails', () => {
  it.each(UNKNOWN_RECIPIENT)('is not retried after the reply %s to RCPT TO', (reply) => {
    expect(toDeliveryError(createSmtpError('RCPT TO', reply))).toBeInstanceOf(PermanentJobError);
  });

  it.each(OTHER_REPLIES)('is retried after the reply %s to RCPT TO', (reply) => {
    expect(toDeliveryError(createSmtpError('RCPT TO', reply))).not.toBeInstanceOf(PermanentJobError);
  });

  it.each(['CONN', 'EHLO', 'STARTTLS', 'AUTH PLAIN', 'MAIL FROM', 'DATA'])(
    'is retried after any reply to %s',
    (command) => {
      for (const reply of [...UNKNOWN_RECIPIENT, ...OTHER_REPLIES])
        expect(toDeliveryError(createSmtpError(command, reply))).not.toBeInstanceOf(PermanentJobError);
    },
  );

  it('is retried after a lost connection', () => {
    const error = Object.assign(new Error('closed'), { code: 'ECONNECTION', command: 'RCPT TO' });
    expect(toDeliveryError(error)).not.toBeInstanceOf(PermanentJobError);
  });

  it('causes an error message of one line, without control characters and with shortened addresses', () => {
    const { message } = toDeliveryError(
      new Error('451 later\r\n\u001b[2Kdead job 7\u0007 for ayu@example.com'),
    );
    expect(message).toBe('451 later [2Kdead job 7 for a***@example.com');
    expect(toDeliveryError(new Error('😀yu@example.com')).message).toBe('😀***@example.com');
    const long = toDeliveryError(
      new Error(`x${' '.repeat(795)}ayu@example.com ${'y'.repeat(200_000)}`),
    ).message;
    expect(long).toBe(`x a***@example.com ${'y'.repeat(181)}`);
  });
});
