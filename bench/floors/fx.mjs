/** Floor FX: Express alone, with a page of 50 products from memory and no cookie check. Settings: PORT. */
import express from 'express';
import { buildPage } from './page.mjs';

const page = buildPage();
const app = express();
app.get('/api/products', (_request, response) => {
  response.type('json').send(page);
});
app.listen(Number(process.env.PORT), '127.0.0.1');
