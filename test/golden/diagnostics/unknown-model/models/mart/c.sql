pivot raw.t on id using sum(amount)
