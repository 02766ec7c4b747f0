import type { Send } from './session-keeper.js';

/**
 * Sends by XMLHttpRequest, because `fetch` does not tell how much of a body has left. For browsers.
 *
 * @param show called with the part of the body that was sent, from 0 to 1; anew from 0 if the call is repeated
 */
export function withUploadProgress(show: (part: number) => void): Send {
  return async (request) => {
    const body = await request.blob();
    const exchange = new XMLHttpRequest();
    exchange.open(request.method, request.url);
    exchange.withCredentials = request.credentials === 'include';
    exchange.responseType = 'blob';
    request.headers.forEach((value, name) => {
      exchange.setRequestHeader(name, value);
    });
    exchange.upload.onprogress = ({ lengthComputable, loaded, total }) => {
      if (lengthComputable) show(total === 0 ? 1 : loaded / total);
    };
    return exchangeOf(exchange, request.signal, body);
  };
}

function exchangeOf(exchange: XMLHttpRequest, signal: AbortSignal, body: Blob): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      exchange.abort();
      reject(signal.reason instanceof Error ? signal.reason : new DOMException('aborted', 'AbortError'));
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    exchange.onload = () => {
      resolve(responseOf(exchange));
    };
    exchange.onerror = () => {
      reject(new TypeError('the service cannot be reached'));
    };
    exchange.onloadend = () => {
      signal.removeEventListener('abort', abort);
    };
    exchange.send(body);
  });
}

function responseOf(exchange: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const line of exchange.getAllResponseHeaders().trim().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const hasNoBody = exchange.status === 204 || exchange.status === 304;
  return new Response(hasNoBody ? null : (exchange.response as Blob), { status: exchange.status, headers });
}
