/** FX: only Express, with the response of F1. Settings: PORT. */
import express from 'express';
import { buildPage } from './page.mjs';

const page = buildPage();
const app = express();
app.get('/api/products', (_request, response) => {
  response.type('json').send(page);
});
app.listen(Number(process.env.PORT), '127.0.0.1');
