import { createServer } from 'node:http';
import { describeInstalled } from '../support/installed.js';
import { listenOnLoopback, stopListening, trackSockets } from '../support/loopback.js';
import { stopAfterUse } from '../support/stop-after-use.js';
import { startNginx } from './support/nginx.js';

const UNAVAILABLE = JSON.stringify({ status: 'fail', errors: { code: 503, message: 'of the service' } });

/** Starts a server that responds like a service without its database. Returns its port. */
function startUnavailable(): Promise<number> {
  const server = createServer((_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json' }).end(UNAVAILABLE);
  });
  const sockets = trackSockets(server);
  return stopAfterUse(listenOnLoopback(server), () => stopListening(server, sockets));
}

describeInstalled('nginx in front of processes without a database', ['nginx'], () => {
  it('passes every 503 to the client, because the payment gateway retries a notification more often after a 503 than after other failures', async () => {
    const nginx = await startNginx([await startUnavailable(), await startUnavailable()]);
    // The GETs come first, because nginx retries only GET and HEAD. With `http_503` in `proxy_next_upstream`, they would mark
    // both servers as failed, and the POST would get nginx's own 502.
    for (const method of ['GET', 'GET', 'GET', 'GET', 'GET', 'POST']) {
      const response = await fetch(`${nginx.url}/api/products/payments`, { method });
      const body = await response.text();
      expect({ method, status: response.status, body }).toEqual({ method, status: 503, body: UNAVAILABLE });
    }
  });
});
