-- @kind: events
-- @description: One line for each page that somebody opened, as posted to /collect/web/page_views

view_id     VARCHAR NOT NULL,
visitor     VARCHAR NOT NULL,
path        VARCHAR NOT NULL,
referrer    VARCHAR,
viewed_at   TIMESTAMPTZ NOT NULL,
received_at TIMESTAMPTZ
