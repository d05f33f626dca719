-- @kind: table
-- @check: not_null(booked_on, category)
-- @warn: category <> 'unknown' up to 10%
-- @description: Bookings with their category

SELECT
  bookings.booked_on,
  bookings.text,
  bookings.partner,
  bookings.amount,
  coalesce(partners.category, 'unknown') AS category
FROM staging.bookings AS bookings
LEFT JOIN ref.partners AS partners ON partners.partner = bookings.partner
