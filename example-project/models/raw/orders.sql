-- @kind: events
-- @description: Changes of orders; each event carries the whole order as it is after the change

event_id     VARCHAR NOT NULL,
order_id     INTEGER NOT NULL,
customer_id  INTEGER NOT NULL,
status       VARCHAR NOT NULL,     -- placed, paid, shipped, delivered, cancelled, returned
items        STRUCT(product_id INTEGER, quantity INTEGER, unit_price DECIMAL(10,2))[] NOT NULL,
shipping_fee DECIMAL(10,2) NOT NULL,
coupon       VARCHAR,
changed_at   TIMESTAMPTZ NOT NULL,
received_at  TIMESTAMPTZ
