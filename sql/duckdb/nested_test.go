package duckdb

func init() {
	statements["common types of nested values"] = []string{
		"select id, case when id = 1 then l end, case when k > 1 then l when k = 1 then [1.5] else [] end from (select id, k, [x, k] as l from a)", "select case when id = 1 then [1] end, id from a",
		"select coalesce([x], [k]), coalesce(case when id > 3 then [x] end, [k::bigint]), if(x > 1, [x], null), ifnull(case when f then [s] end, ['none']) from a",
		"values ([3]), ([])", "values ([]), ([null]), (['a', null])", "select * from (values ([3], 'a'), ([], 'b'), (null, 'c'))", "select [x, k] from a union all select [null, null]", "select [] union all select ['a'] union all select [null]", "select [1] union all select [1.5]",
		"select [], [null], [[]], [[1], [2, 3]], [[x], [k, 1]], [[s], ['x', null], null], [[], ['a']] from a", "select [[1], [null]], [[1], null], [[], null], [null, []], [[1], [1.5]]",
		"select l[1], l[1][1], l[2], l[3][2], len(l), l[2:], list_filter(l, e -> len(e) > 1), list_transform(l, e -> e[1]) from (select [[s], ['x', null], null] as l from a)", "select unnest([[x], [k, 1]]) from a", "select u[1] from a, unnest([[a.x], [a.k, 1]]) q(u)",
		"select id, unnest(l) from (select id, case when id % 3 = 0 then [x] when id % 3 = 1 then [] end as l from a)", "select k, case when count(*) > 2 then list(x order by id) else [] end from a group by k",
		"select list_append([[x]], [1]), list_prepend([1], [[x], null]), list_concat([[x]], [[]], null), [[x]] || [null] from a", "select list_append([], 'a'), list_append([null], 'a'), list_concat([], ['a']), [] || ['a'], list_append([], [1])",
		"select list_transform([[1], []], e -> len(e)), list_transform([null], e -> e || 'x'), list_filter([null], e -> e is null), list_sort([null]), list_distinct([null]), len([null, null]), list_contains([null], 'a'), list_position([null, null], null), list_max([null]), unnest([null])",
		"select coalesce([null], ['a']), coalesce([null][1], 'a'), [null, null][1], coalesce(null::integer[], []), ifnull([], null), ifnull(null::integer[], [1]), coalesce(null, [])",
		"select coalesce(l, [0]) from (select b.k, l from b left join (select k, list(x order by id) as l from a where k > 1 group by k) g on b.k = g.k)", "select case k when 1 then [[1.5]] when 2 then [[x]] else [] end from a",
		"select case when x > 1 then {'a': k} end, case when x > 1 then {'a': 1} else {'a': k} end, case when x > 1 then {'a': [1.5]} else {'a': [k]} end from a", "select coalesce(case when f then {'a': x, 'b': s} end, {'a': 0, 'b': '-'}), coalesce(case when f then {'a': x} end, {'a': y}).a from a",
		"select case when x > 1 then {'a': 1, 'b': ['x']} when x = 1 then {'b': null, 'a': y} when x = 2 then null else {'a': k, 'b': []} end from a", "select {'a': 1} union all select {'a': 1.5} union all select null", "select {'a': 1} union all select {'b': 2}", "select {'a': 1, 'b': 2} union all select {'b': 3, 'a': 4}",
		"select [{'a': 1}, {'a': x}], [{'a': x, 'b': null}, {'A': null, 'b': s}, null] from a", "values ({'a': 1}), ({'a': null}), (null)", "select coalesce({'a': null}.a, 'x'), {'a': []}.a || ['b']",
		"select a.id, b.id from a left join b on len(list_filter([1, 2, 3], e -> e > a.k)) = b.id", "select a.id, b.id from a left join b on list_contains(list_transform(['a', 'b', 'Oslo'], e -> e || ''), a.s) and a.k = b.k",
		"select a.id, b.id from a full join b on len([]) = b.id and len([null, a.id]) = 2", "select a.id, b.id from a left join b on [1.5, 2.5][b.k] > a.k", "select a.id, b.id from a left join b on coalesce(case when a.f then [a.k] end, [b.k])[1] = b.k",
	}
}
