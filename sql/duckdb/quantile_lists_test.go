package duckdb

func init() {
	statements["lists of fractions"] = []string{
		"select k, quantile_cont(x, [0.25, 0.5, 1]), quantile_disc(s, [0.5, 0.1]), percentile_cont([0.1, 0.9]) within group (order by y), quantile(x, [0.5]) from a group by k", "select quantile_cont(x, [0.25, 0.5]) from a where false",
		"select quantile_cont(x, [0.25, 0.5]) filter (where f), quantile_disc(d, [0, 1]), max(x) from a", "select id, quantile_cont(x, [0.25, 0.5]) over (partition by k) from a", "select list_sum(quantile_cont(x, [0.5, 0.75])) from a having quantile_disc(x, [0.5])[1] > 0",
	}
	statements["trims"] = []string{
		"select trim(t), ltrim(t), rtrim(t), length(trim(t)), trim(t, 'ab '), ltrim(t, 'a'), rtrim(t, 'b]^-'), trim(both 'a' from t), trim(leading from t) from (select '\t a b \n' as t union all select '  ab ]b  ' union all select ' a-^b' || s || ' ' from a)",
		"select trim('  x '), trim(s || ' '), trim(s, ''), trim(s, 'ä%') from a",
	}
}
