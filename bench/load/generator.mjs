/** Load generator: runs autocannon in a separate process. Receives its jobs as messages. */
import autocannon from 'autocannon';
import { makeTraffic } from './traffic.mjs';

/** Traffic by target, reused in every round so that a sequence of distinct requests continues. */
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
    // The round is invalid now, so its remaining requests do not matter.
    ranOut = true;
    return { method: 'GET', path: '/', headers: {}, body: '' };
  };
  const generated = () => [{ setupRequest: (defaults) => ({ ...defaults, ...next() }) }];
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    // Milliseconds. The run ends at the first sample after `duration`.
    sampleInt: 100,
    timeout: 30, // Seconds.
    setupClient: (client) => client.setRequests(source.forConnection?.() ?? generated()),
  });
  const statuses = Object.fromEntries(
    Object.entries(result.statusCodeStats).map(([status, { count }]) => [status, count]),
  );
  const responses = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return {
    perSecond: responses / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    statuses,
    failures: result.errors + result.timeouts,
    ranOut,
  };
}
