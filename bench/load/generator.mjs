/** The load generator: autocannon in a process of its own, told by messages what to send where. */
import autocannon from 'autocannon';
import { makeTraffic } from './traffic.mjs';

/** Kept from round to round, so that a queue of distinct requests goes on where it stood. */
const traffics = new Map();

process.on('message', (job) => {
  run(job).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: error.stack }),
  );
});

async function run({ target, traffic, url, connections, seconds }) {
  if (!traffics.has(target)) traffics.set(target, await makeTraffic(traffic));
  const source = traffics.get(target);
  let ranOut = false;
  const next = () => {
    const request = source.next();
    if (request !== null) return request;
    // The round does not count any more, so it does not matter what is sent until its end.
    ranOut = true;
    return { method: 'GET', path: '/', headers: {}, body: '' };
  };
  const dynamic = () => [{ setupRequest: (defaults) => ({ ...defaults, ...next() }) }];
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 100,
    timeout: 30,
    setupClient: (client) => client.setRequests(source.forConnection?.() ?? dynamic()),
  });
  const statuses = Object.fromEntries(
    Object.entries(result.statusCodeStats).map(([status, { count }]) => [status, count]),
  );
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return {
    perSecond: answers / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    statuses,
    failures: result.errors + result.timeouts,
    ranOut,
  };
}
