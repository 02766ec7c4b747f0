import { createBakeryClient, type Send } from 'bakery-client';
import { API_OPTIONS } from './client';

/** Receives the sent fraction of the body, from 0 to 1. A retry starts at 0 again. */
export type OnProgress = (fraction: number) => void;

/** Creates a client that uses XMLHttpRequest, because `fetch` does not report upload progress. */
export function createProgressClient(onProgress: OnProgress) {
  const send: Send = async (request) => {
    onProgress(0);
    const body = await request.blob();
    request.signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest();
      xhr.open(request.method, request.url);
      xhr.withCredentials = request.credentials === 'include';
      for (const [name, value] of request.headers) xhr.setRequestHeader(name, value);
      xhr.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
      xhr.onload = () => {
        const headers = { 'Content-Type': xhr.getResponseHeader('Content-Type') ?? '' };
        resolve(new Response(xhr.responseText, { status: xhr.status, headers }));
      };
      xhr.onerror = () => reject(new TypeError('the service cannot be reached'));
      xhr.onabort = () => reject(request.signal.reason as Error);
      request.signal.addEventListener('abort', () => xhr.abort());
      xhr.send(body);
    });
  };
  return createBakeryClient({ ...API_OPTIONS, fetch: send });
}
