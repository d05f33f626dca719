/*
 * @kind: view
 * @expose id
 */
select 1 as id
