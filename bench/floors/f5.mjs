/**
 * Floor F5, the minimal cost of a payment notification: JSON.parse, SHA-512 check, BEGIN, UPDATE of one order, COMMIT.
 * The pool has 10 connections. The UPDATE is prepared. The server's synchronous_commit is on. Settings: PORT,
 * DATABASE_URL, SERVER_KEY.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { readBody } from './body.mjs';
import { isSigned } from './notification.mjs';
import { PAY_SQL } from './statements.mjs';

const serverKey = process.env.SERVER_KEY;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

createServer(async (request, response) => {
  const notification = JSON.parse(await readBody(request));
  if (!isSigned(notification, serverKey)) {
    response.writeHead(403).end();
    return;
  }
  const { order_id, transaction_status, transaction_id, payment_type } = notification;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const values = [order_id, transaction_status, transaction_id, payment_type];
    const { rowCount } = await client.query({ name: 'pay', text: PAY_SQL, values });
    await client.query('COMMIT');
    response.writeHead(rowCount === 1 ? 200 : 404).end();
  } finally {
    client.release();
  }
}).listen(Number(process.env.PORT), '127.0.0.1');
