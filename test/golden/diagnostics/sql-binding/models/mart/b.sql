select 'größe' as g,
	sum(s.amont) as x from raw.s group by all
