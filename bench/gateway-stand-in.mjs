/**
 * Stand-in of the payment gateway Midtrans that responds at once. Its API Snap returns a payment page for every order.
 * Its Core API returns 404 for every payment, as Midtrans does until a payment method is chosen. Settings: PORT.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    const isSnapRequest = request.method === 'POST' && request.url === '/snap/v1/transactions';
    const token = randomUUID();
    const body = isSnapRequest
      ? { token, redirect_url: `http://127.0.0.1/snap/v4/redirection/${token}` }
      : { status_code: '404', status_message: "Transaction doesn't exist." };
    response.writeHead(isSnapRequest ? 201 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
