import { deliveryFailure } from '../src/mail/delivery-failure.js';

describe('what is kept of a mail that did not leave', () => {
  it('is one line without control characters, and names no address', () => {
    const { message } = deliveryFailure(
      new Error('451 later\r\n\u001b[2Kdead job 7\u0007 for ayu@example.com'),
    );
    expect(message).toBe('451 later [2Kdead job 7 for a***@example.com');
  });
});
