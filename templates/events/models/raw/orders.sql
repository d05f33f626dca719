-- @kind: events
-- @description: Changes of orders, as posted to /collect/raw/orders

order_id    INTEGER NOT NULL,
country_id  VARCHAR NOT NULL,
status      VARCHAR NOT NULL,
amount      DECIMAL(10,2) NOT NULL,
changed_at  TIMESTAMPTZ NOT NULL,
received_at TIMESTAMPTZ
