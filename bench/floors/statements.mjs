/** Statement for a page of 50 products after the id $1, with the URLs of their images. */
export const PAGE_SQL = `
  SELECT id, name, description, price::float8 AS price,
    (SELECT array_agg('http://localhost:3000/api/images/' || url ORDER BY position) FROM images
     WHERE images.product_id = products.id AND images.state = 'attached') AS images
  FROM products WHERE id > $1 ORDER BY id LIMIT 50`;

/** Statement that pays the order $1, with the minimal changes of a settlement. */
export const PAY_SQL = `
  UPDATE orders SET status = $2, transaction_id = $3, payment_type = $4, completed_at = now(), updated_at = now()
  WHERE order_id = $1`;
