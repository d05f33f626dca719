SELECT 1 AS x FROM ${top:identifier}
