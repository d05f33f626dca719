// The aggregate functions of DuckDB, as far as a measure can be made of them. A test compares the list with the catalog of
// the engine; asking it at every start would take longer than compiling a small project.

export const aggregates: ReadonlySet<string> = new Set(
  `any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
  arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr
  count count_if count_star countif covar_pop covar_samp entropy favg first fsum group_concat histogram histogram_exact
  kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile
  quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow sumkahan var_pop var_samp
  variance`.split(/\s+/),
)

/** These are divided from a sum and a count, so that parts of an average can be added up. */
export const averages: ReadonlySet<string> = new Set(['avg', 'mean'])

/** Their value is another one where rows come in another order, unless they say in which. */
export const ordered: ReadonlySet<string> = new Set([
  'arbitrary',
  'array_agg',
  'first',
  'group_concat',
  'last',
  'list',
  'listagg',
  'string_agg',
])

/** These have all values, in some order. */
export const collecting: ReadonlySet<string> = new Set(['array_agg', 'list'])

/** These have the text of all values, in some order, with a constant between them. */
export const joining: ReadonlySet<string> = new Set(['group_concat', 'listagg', 'string_agg'])
