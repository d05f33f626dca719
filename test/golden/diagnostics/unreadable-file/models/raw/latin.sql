select 'café' as x
