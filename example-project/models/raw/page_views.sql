-- @kind: events
-- @description: Pages that visitors opened, one event each

page_view_id VARCHAR NOT NULL,
session_id   VARCHAR NOT NULL,
customer_id  INTEGER,              -- absent for a visitor who is not signed in
product_id   INTEGER,
path         VARCHAR NOT NULL,
device       VARCHAR,
referrer     VARCHAR,
viewed_at    TIMESTAMPTZ NOT NULL,
received_at  TIMESTAMPTZ
