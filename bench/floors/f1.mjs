/** Floor F1: HS256 cookie check, and a page of 50 products from memory. Settings: PORT, JWT_ACCESS_SECRET. */
import { createServer } from 'node:http';
import { createAccessCheck } from './access-check.mjs';
import { buildPage } from './page.mjs';

const isSignedIn = createAccessCheck(process.env.JWT_ACCESS_SECRET);
const page = buildPage();

createServer((request, response) => {
  if (!isSignedIn(request)) {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': page.length,
  });
  response.end(page);
}).listen(Number(process.env.PORT), '127.0.0.1');
