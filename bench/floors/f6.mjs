/**
 * Floor F6, the minimal cost of a login: JSON.parse, the account's row, argon2id with m=19456, t=2, p=1, and two signed
 * tokens. Settings: PORT, DATABASE_URL, JWT_ACCESS_SECRET.
 */
import { verify } from '@node-rs/argon2';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { sign } from '../tokens.mjs';
import { readBody } from './body.mjs';

const secret = process.env.JWT_ACCESS_SECRET;
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const account = {
  name: 'account',
  text: 'SELECT id, fullname, email, role, password_hash FROM users WHERE lower(email) = lower($1)',
};

createServer(async (request, response) => {
  const { email, password } = JSON.parse(await readBody(request));
  const { rows } = await pool.query({ ...account, values: [email] });
  const [user] = rows;
  if (user === undefined || !(await verify(user.password_hash, password))) {
    response.writeHead(400).end();
    return;
  }
  const { id, fullname, role } = user;
  const claims = { tokenId: id, fullname, email: user.email, role, jti: randomUUID() };
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    // As in the service, Max-Age exceeds the lifetime of the tokens.
    'Set-Cookie': [
      `accessToken=${sign(claims, secret, 600)}; Max-Age=600000; Path=/; HttpOnly; Secure; SameSite=None`,
      `refreshToken=${sign(claims, secret, 864_000)}; Max-Age=864000000; Path=/api/refresh; HttpOnly; Secure; SameSite=None`,
    ],
  });
  response.end(JSON.stringify({ status: 'success', data: { users: { id, fullname, email: user.email } } }));
}).listen(Number(process.env.PORT), '127.0.0.1');
