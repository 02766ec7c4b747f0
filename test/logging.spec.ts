import { createLogger, createNestLogger } from '../src/common/observability/logging.js';

describe('a line of the log', () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createNestLogger(createLogger({ logLevel: 'debug', nodeEnv: 'production' }, { write }));

  beforeEach(() => {
    lines.length = 0;
  });

  it('contains the message, code and cause of an error, and the id of the request', () => {
    const error = Object.assign(new Error('disk full', { cause: new Error('no space') }), { code: 'ENOSPC' });
    logger.error(error, { requestId: 'r1' }, 'Failure');
    const err = { type: 'Error', message: 'disk full', code: 'ENOSPC', cause: { message: 'no space' } };
    expect(lines).toMatchObject([{ msg: 'disk full', requestId: 'r1', context: 'Failure', err }]);
  });

  it('contains the errors of all addresses of a host, although the error that contains them has no message', () => {
    logger.error(new AggregateError([new Error('refused 192.0.2.1'), new Error('refused 2001:db8::1')], ''));
    const message = 'refused 192.0.2.1; refused 2001:db8::1';
    expect(lines).toMatchObject([{ msg: message, err: { message } }]);
  });
});
