-- @kind: table
-- @expose payout
-- @check: unique(payout)
-- @description: Payouts that the bank has not booked, or not with the same amount

SELECT
  payouts.payout,
  payouts.sent::DATE AS sent_on,
  payouts.total::DECIMAL(12,2) AS expected,
  bookings.amount AS booked
FROM shop.payouts AS payouts
LEFT JOIN staging.bookings AS bookings ON bookings.payout = payouts.payout
WHERE bookings.amount IS DISTINCT FROM payouts.total::DECIMAL(12,2)
