-- kind: view
-- expose id
--- @tags: nightly
select 1 as id
