/**
 * Floor F7, the minimal cost of creating a product with one image: HS256 cookie check, a form parsed by busboy, one
 * file write, two INSERTs in one transaction. Settings: PORT, DATABASE_URL, JWT_ACCESS_SECRET, IMAGES_DIR.
 */
import { Buffer } from 'node:buffer';
import busboy from 'busboy';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { createAccessCheck } from './access-check.mjs';

const isSignedIn = createAccessCheck(process.env.JWT_ACCESS_SECRET);
const folder = process.env.IMAGES_DIR;
mkdirSync(folder, { recursive: true });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const insertProduct = {
  name: 'product',
  text: 'INSERT INTO products (name, description, price) VALUES ($1, $2, $3) RETURNING id',
};
const insertImage = {
  name: 'image',
  text: `INSERT INTO images (id, host, state, product_id, position, url) VALUES ($1, 'local', 'attached', $2, 0, $3)`,
};

createServer(async (request, response) => {
  if (!isSignedIn(request)) {
    response.writeHead(401).end();
    return;
  }
  const { fields, image } = await readForm(request);
  const imageId = randomUUID();
  const name = `${imageId}.jpg`;
  await writeFile(join(folder, name), image);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const values = [fields.name, fields.description, fields.price];
    const { rows } = await client.query({ ...insertProduct, values });
    await client.query({ ...insertImage, values: [imageId, rows[0].id, name] });
    await client.query('COMMIT');
    response.writeHead(201, { 'Content-Type': 'application/json; charset=utf-8' });
    const products = { id: rows[0].id, ...fields, images: [`http://localhost:3000/api/images/${name}`] };
    response.end(JSON.stringify({ status: 'success', data: { products } }));
  } finally {
    client.release();
  }
}).listen(Number(process.env.PORT), '127.0.0.1');

function readForm(request) {
  return new Promise((resolve, reject) => {
    const fields = {};
    const pieces = [];
    const parser = busboy({ headers: request.headers });
    parser.on('field', (name, value) => (fields[name] = value));
    parser.on('file', (_name, stream) => stream.on('data', (piece) => pieces.push(piece)));
    parser.on('close', () => resolve({ fields, image: Buffer.concat(pieces) }));
    parser.on('error', reject);
    request.pipe(parser);
  });
}
