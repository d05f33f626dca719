-- @kind: view
-- @description: Users without their addresses: only the domain is needed here

SELECT user_id, split_part(email, '@', 2) AS email_domain, country, created_at
FROM app.users
