-- @kind: view
-- @description: Bookings of all files, with the number of the payout that their text names

SELECT
  booked_on,
  text,
  partner,
  amount,
  try_cast(nullif(regexp_extract(text, '^PAYOUT (\d+)$', 1), '') AS BIGINT) AS payout
FROM bank.bookings
