-- net price
CREATE MACRO net(gross) AS gros / 1.2;
CREATE MACRO top(n) AS TABLE SELECT * FROM raw.s LIMIT 1;
