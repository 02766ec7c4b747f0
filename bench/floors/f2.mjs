/**
 * Floor F2: HS256 cookie check, a pool of 10, one prepared keyset query that includes the images, JSON.stringify.
 * Settings: PORT, JWT_ACCESS_SECRET, DATABASE_URL.
 */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import pg from 'pg';
import { createAccessCheck } from './access-check.mjs';
import { PAGE_SQL } from './statements.mjs';

const isSignedIn = createAccessCheck(process.env.JWT_ACCESS_SECRET);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

createServer(async (request, response) => {
  if (!isSignedIn(request)) {
    response.writeHead(401).end();
    return;
  }
  const lastId = Number(/\?last_id=(\d+)$/.exec(request.url)?.[1] ?? 0);
  const { rows } = await pool.query({ name: 'page', text: PAGE_SQL, values: [lastId] });
  const body = JSON.stringify({
    status: 'success',
    data: { meta: { lastProductId: rows.at(-1)?.id }, products: rows },
  });
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
