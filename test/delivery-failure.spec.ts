import { deliveryFailure } from '../src/mail/delivery-failure.js';
import { PermanentJobError } from '../src/jobs/permanent-job-error.js';

/** An error as nodemailer throws it for a rejected command. */
function smtpError(command: string, responseCode: number, enhancedCode?: string): Error {
  const code = enhancedCode === undefined ? '' : `${enhancedCode} `;
  const response = `${responseCode} ${code}rejected`;
  return Object.assign(new Error(`Command failed: ${response}`), { command, responseCode, response });
}

const COMMANDS = ['CONN', 'EHLO', 'STARTTLS', 'AUTH PLAIN', 'MAIL FROM', 'RCPT TO', 'DATA'];
const ENHANCED_CODES = [
  ...['1.1', '1.2', '1.3', '1.6', '1.10', '2.1'],
  ...[
    '0.0',
    '1.0',
    '1.4',
    '1.5',
    '1.7',
    '1.8',
    '1.9',
    '2.0',
    '2.2',
    '2.3',
    '2.4',
    '3.4',
    '4.1',
    '4.4',
    '4.7',
  ],
  ...['5.0', '5.1', '5.2', '6.0', '7.0', '7.1', '7.8', '7.26', '1.11', '2.10'],
];
/** Replies to RCPT TO that say that the recipient does not exist. */
const PERMANENT = new Set([
  ...[550, 551, 553].map(String),
  ...[530, 535, 550, 551, 552, 553, 554].flatMap((code) =>
    ['1.1', '1.2', '1.3', '1.6', '1.10', '2.1'].map((detail) => `${code} 5.${detail}`),
  ),
]);

const CASES = COMMANDS.flatMap((command) =>
  [421, 450, 451, 452, 530, 535, 550, 551, 552, 553, 554].flatMap((code) => [
    { command, code, enhancedCode: undefined },
    ...ENHANCED_CODES.map((detail) => ({
      command,
      code,
      enhancedCode: `${String(code).charAt(0)}.${detail}`,
    })),
  ]),
).map(({ command, code, enhancedCode }) => ({
  command,
  code,
  enhancedCode,
  isPermanent:
    command === 'RCPT TO' &&
    PERMANENT.has(enhancedCode === undefined ? String(code) : `${code} ${enhancedCode}`),
}));

describe('a mail that the mail server rejects', () => {
  it.each(COMMANDS)('is given up after %s only if the recipient does not exist', (tried) => {
    const wrong = CASES.filter(({ command }) => command === tried).filter(
      ({ command, code, enhancedCode, isPermanent }) =>
        deliveryFailure(smtpError(command, code, enhancedCode)) instanceof PermanentJobError !== isPermanent,
    );
    expect(wrong).toEqual([]);
  });

  it('is retried after a lost connection or a rejected login', () => {
    for (const error of [
      Object.assign(new Error('timeout'), { code: 'ETIMEDOUT', command: 'CONN' }),
      Object.assign(new Error('Invalid login: 535 5.7.8'), { code: 'EAUTH', responseCode: 535 }),
      Object.assign(new Error('closed'), { code: 'ECONNECTION', command: 'RCPT TO' }),
    ])
      expect(deliveryFailure(error)).not.toBeInstanceOf(PermanentJobError);
  });

  it('is recorded as one line without control characters and addresses', () => {
    const { message } = deliveryFailure(
      new Error('451 later\r\n\u001b[2Kdead job 7\u0007 for ayu@example.com'),
    );
    expect(message).toBe('451 later [2Kdead job 7 for a***@example.com');
  });
});
