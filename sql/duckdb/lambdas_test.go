package duckdb

import (
	"fmt"
	"strings"
)

func init() {
	statements["lambdas"] = []string{
		"select k, list_transform(l, e -> e + 1), list_filter(l, e -> e > 2), list_transform(list_filter(l, e -> e is not null), lambda e: e * k) from (select k, list(x order by id) as l from a group by k)",
		"select k, [e * 2 for e in l], [e - k for e in l if e > k], list_transform(l, (e, i) -> e * i), list_filter(l, (e, i) -> i % 2 = 1) from (select k, list(x order by id) as l from a group by k)",
		"select k, list_transform(l, t -> upper(t) || k), list_filter(l, t -> t like '%o%'), list_transform(l, t -> case when t = 'a' then null else length(t) end) from (select k, list(s order by id) as l from a group by k)",
		"select k, list_transform(l, e -> list_transform(l, d -> d + e)), list_transform(l, e -> len(list_filter(l, d -> d > e))) from (select k, list(id order by id) as l from a group by k)",
		"select id, list_transform([1, 2, 3], e -> e * x), list_transform([x, k, id], e -> e + 1), list_filter([x, k], e -> e > id) from a",
		"select list_transform(null, e -> e + 1), list_transform([1, null], e -> 7), list_transform(['a'], e -> 'b'), list_transform([]::integer[], e -> e), [e for e in [3, 1, 2] if e < 3]",
		"select k, count(*) from a where len(list_filter([x, k], e -> e > 1)) > 0 group by k", "select list_transform([1, 2], x -> x + 1) as l, x from a where x > 1",
		"select k, list_transform(list(x order by id), e -> e + k), list_sum(list_transform(list(x), e -> e * count(*))) from a group by k",
		"select len(list_filter([x, k], e -> e > 1)) as n, count(*) from a group by len(list_filter([x, k], e -> e > 1))", "select id from a order by list_sum(list_transform([x, k], e -> coalesce(e, 0))), id",
		"select a.id, b.id from a join b on len(list_filter([a.k, b.k], e -> e > 1)) = 2", "select id, x in [k, id], list_contains([x, k], id), list_has(list_transform([x], e -> e + 1), k) from a",
	}
	statements["functions of lists"] = []string{
		"select k, list_sum(l), list_avg(l), list_min(l), list_max(l), list_count(l), list_first(l), list_last(l), list_any_value(l), list_aggregate(l, 'max') from (select k, list(x order by id) as l from a group by k)",
		"select k, list_sort(list_distinct(l)), list_unique(l), list_position(l, 2), list_contains(l, k), list_contains(l, 3), list_has_any(l, [1, 2]), list_has_all(l, [k, null]) from (select k, list(x order by id) as l from a group by k)",
		"select k, list_concat(l, [1, 2]), l || l, list_append(l, k), list_prepend(k, l), array_push_front(l, null), list_cat(l, null), list_append(null, k) from (select k, list(x order by id) as l from a group by k)",
		"select k, list_sort(l), list_sort(l, 'desc'), list_sort(l, 'asc', 'nulls first'), list_sort(l, 'desc', 'nulls first') from (select k, list(x order by id) as l from a group by k)",
		"select k, array_to_string(l, '-'), array_to_string(list_filter(l, e -> false), ',') from (select k, list(s order by id) as l from a group by k)", "select id, array_to_string([x, k], '/') from a",
		"select id, range(x), range(k, x), range(x, k, -2), generate_series(k, x), generate_series(k, x, 2), generate_series(x, k, -1) from a", "select range(3), generate_series(1, 3), range(5, 1, -2), range(0)",
		"select id, l[x], l[-x], l[k:x], l[-2:], l[x:], l[:k], l[-3:-2], l[2:-1], list_extract(l, k), list_slice(l, k, -1) from (select id, x, k, [7, 8, 9, id] as l from a)",
		"select id, [x, k], list_value(x, 1, null), [y, 1.5, x], [s, 'z'], [d, date '2020-01-01'], [f, true], [m, 2], [null, x] from a", "select k, l::double[], cast(l as varchar[]), null::integer[], l::bigint[] || [k::bigint], [x]::double[] from (select k, x, [k, x, 3] as l from a)", "select id, list_avg([m, 2]) from a", "select [x + 1][1], list_position([s, 'a', null], null) from a",
		"select id, range(x, k, id - 3), generate_series(k, x, x - 2) from a", "select range(1, 3, 0), generate_series(1, 3, 0), range(null), range(1, null), range(1, 2, null), generate_series(2, 1, 0)",
		"select range(-5000000000000000000, 5000000000000000000, 1000000000000000000), range(0, -9223372036854775807 - 1, -4611686018427387904), generate_series(-9223372036854775807 - 1, 9223372036854775807, 4611686018427387904)",
		"select generate_series(9223372036854775807, -9223372036854775807 - 1, -9223372036854775807 - 1), range(9223372036854775807, -9223372036854775807, -4611686018427387904), range(-9223372036854775807 - 1, -9223372036854775807 + 2, 1), generate_series(9223372036854775805, 9223372036854775807)",
		"select list_sort([1, 3, null, 2], 'descending'), list_sort([1, 3, 2], 'Ascending'), list_sort([3, 1], 'default'), list_sort([3, 1], 'order_default'), list_sort([3, 1], null)",
		"select list_sort([1, 3, null, 2], 'desc', 'nulls_first'), list_sort([1, null, 2], 'asc', 'NULLS FIRST'), list_sort([1, null, 2], 'desc', 'nulls_last'), list_sort([null, 2], 'asc', 'default'), list_sort([null, 2], 'asc', 'order_default'), list_sort([1], 'asc', null)",
		"select id, len(range(x * -1000000000000000000, k * 1000000000000000000, 100000000000000000)) from a where x < 9 and k < 9",
		"select list_concat(null::integer[], null::integer[]), list_concat(null::integer[], null), list_concat([1], null), list_concat(null::integer[]), list_concat(null::integer[], [1.5]), list_concat([null], null)",
		"select k, list_min(l), list_max(l), list_aggregate(l, 'min') from (select k, list(s order by id) as l from a group by k)", "select k, list_min(l), list_max(l) from (select k, list(m order by id) as l from a group by k)", "select list_max(['b', null, 'a']), list_min([1.5, 2.25])",
		"select unnest([id, 1]) from a", "select u from a, unnest([a.id, 1]) q(u)", "select id, u from a, unnest([a.id, k, 1]) q(u) where u > 3", "select id, unnest([s, 'x']) from a where k = 1", "select unnest([1 + 1, 2]), id from a",
		"select id, unnest([null, x]) from a", "select k, unnest([count(*), 1]) from a group by k", "select k, unnest([k, sum(x)]) from a group by k", "select id, unnest([row_number() over (order by id), 0]) from a", "select u, count(*) from a, unnest([x, k]) q(u) group by u",
	}
	for class, list := range statements {
		if class == "lambdas" || class == "functions of lists" {
			statements[class] = append(list, ofNoElements(list)...)
		}
	}
}

// ofNoElements are the statements on lists of groups with lists that are null and lists that are empty.
func ofNoElements(list []string) (variants []string) {
	for _, text := range list {
		for _, items := range []string{"x", "s"} {
			of := fmt.Sprintf("(select k, list(%s order by id) as l from a group by k)", items)
			variant := strings.Replace(text, of, fmt.Sprintf("(select b.k, items as l from b left join (select k, list_filter(list(%s order by id), e -> k <> 3) as items from a where k > 1 group by k) g on b.k = g.k)", items), 1)
			if variant != text {
				variants = append(variants, variant)
			}
		}
	}
	return variants
}
