import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the tables of accounts, products, images, orders (without items) and payment notifications. */
export class InitialSchema1763600000000 implements MigrationInterface {
  readonly name = 'InitialSchema1763600000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE users (
        id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT users_pkey PRIMARY KEY,
        fullname varchar(255) NOT NULL,
        email varchar(254) NOT NULL,
        role text NOT NULL DEFAULT 'USER' CONSTRAINT users_role_check CHECK (role IN ('USER', 'ADMIN')),
        password_hash text NOT NULL,
        email_verified_at timestamptz,
        refresh_token_digest bytea,
        claims_version integer NOT NULL DEFAULT 1,
        sessions_ended_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX users_email_key ON users (lower(email));

      CREATE TABLE one_time_passwords (
        user_id integer NOT NULL
          CONSTRAINT one_time_passwords_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
        purpose text NOT NULL
          CONSTRAINT one_time_passwords_purpose_check CHECK (purpose IN ('verify_email', 'reset_password')),
        requested_at timestamptz NOT NULL,
        digest bytea,
        expires_at timestamptz,
        tries smallint NOT NULL DEFAULT 0,
        CONSTRAINT one_time_passwords_pkey PRIMARY KEY (user_id, purpose)
      );

      CREATE TABLE products (
        id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT products_pkey PRIMARY KEY,
        name varchar(255) NOT NULL,
        description text,
        price numeric(14, 2) NOT NULL CONSTRAINT products_price_check CHECK (price >= 0),
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      );

      CREATE TABLE images (
        id uuid CONSTRAINT images_pkey PRIMARY KEY,
        host text NOT NULL CONSTRAINT images_host_check CHECK (host IN ('cloudinary', 'local')),
        state text NOT NULL CONSTRAINT images_state_check CHECK (state IN ('staged', 'attached', 'condemned')),
        product_id integer CONSTRAINT images_product_id_fkey REFERENCES products (id),
        position integer,
        url text,
        staged_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT images_attached_check CHECK (
          (state = 'attached') = (product_id IS NOT NULL)
          AND (state <> 'attached' OR (position IS NOT NULL AND url IS NOT NULL))
        )
      );
      CREATE UNIQUE INDEX images_product_id_position_key ON images (product_id, position) INCLUDE (url)
        WHERE state = 'attached';
      CREATE INDEX images_staged_at_idx ON images (staged_at) WHERE state = 'staged';

      CREATE TABLE orders (
        order_id uuid CONSTRAINT orders_pkey PRIMARY KEY,
        user_id integer NOT NULL CONSTRAINT orders_user_id_fkey REFERENCES users (id),
        status text NOT NULL DEFAULT 'pending' CONSTRAINT orders_status_check CHECK (status IN (
          'capture', 'settlement', 'pending', 'deny', 'cancel',
          'expire', 'failure', 'refund', 'partial_refund', 'authorize'
        )),
        gross_amount bigint NOT NULL CONSTRAINT orders_gross_amount_check CHECK (gross_amount >= 0),
        transaction_id text,
        payment_type text,
        fraud_status text,
        transaction_amount text,
        completed_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX orders_user_id_idx ON orders (user_id, created_at DESC, order_id DESC);

      CREATE TABLE payment_notifications (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT payment_notifications_pkey PRIMARY KEY,
        order_id uuid NOT NULL
          CONSTRAINT payment_notifications_order_id_fkey REFERENCES orders (order_id),
        outcome text NOT NULL CONSTRAINT payment_notifications_outcome_check
          CHECK (outcome IN ('applied', 'duplicate', 'late', 'rejected')),
        transaction_id text,
        transaction_status text,
        status_code text,
        gross_amount text,
        fraud_status text,
        payload text NOT NULL,
        received_at timestamptz NOT NULL DEFAULT now()
      );
      CREATE INDEX payment_notifications_order_id_idx ON payment_notifications (order_id, transaction_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE payment_notifications;
      DROP TABLE orders;
      DROP TABLE images;
      DROP TABLE products;
      DROP TABLE one_time_passwords;
      DROP TABLE users;
    `);
  }
}
