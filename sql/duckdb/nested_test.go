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
	statements["pairs of lists"] = []string{
		"select list_reverse([1, 2, null]), list_reverse(null), flatten([[1], [2, 3], null, []]), flatten(null), flatten([null]), flatten([]), list_reverse([s, 'x']), flatten([[s], [], ['x', null]]) from a", "select flatten(l) from (values ([[1], [2]]), (null), ([]), ([null]), ([[]]), ([null, [1]])) t(l)",
		"select list_resize([1, 2], 4), list_resize([1, 2], 4, 0), list_resize([1, 2], 1), list_resize(null, 2), list_resize([1], null)", "select list_resize(l, n, 9), list_resize(l, n) from (values ([1, 2], 3), (null, 2), ([], 1), ([1], null)) t(l, n)",
		"select list_resize([1], 2, 1.5), list_resize([x], 2, y), list_resize(['a'], 2, 1), list_resize([1], 2, '7'), list_resize([[1]], 2, [2.5]), list_resize([x], 2, null) from a",
		"select list_reverse_sort([1, 3, null, 2]), list_reverse_sort([1, 3, null, 2], 'nulls first'), array_reverse_sort(['b', 'a'])", "select list_select([5, 6, 7], [3, 1, 9, 0]), list_select([5, 6, 7], [-1]), list_select(null, [1]), list_select([1], null), list_select(['a', s], [2, 2, x]) from a where x is not null",
		"select list_where([5, 6, 7], [true, false, true]), list_where(null, [true]), list_where([5], null), list_where([5, 6, 7], [true, false]), list_where([5, 6], [true, true, true])", "select list_sort(list_intersect([1, 2, 2, 3], [2, 3, 4])), list_intersect([1, null], [null]), list_intersect(null, [1]), list_intersect([1], null)",
		"select list_cosine_similarity([1.0, 2.0], [2.0, 1.0]), list_cosine_distance([1.0, 2.0], [2.0, 1.0]), list_distance([1, 2], [2, 3]), list_distance(null, [1]), list_inner_product([], []), list_dot_product([x, 1], [k, 2]), list_negative_inner_product([1.0], [2.0]), list_negative_dot_product([x], [2.0]), list_cosine_similarity([]::double[], []::double[]) from a where x <> 0 and k <> 0",
		"select list_inner_product([x, k, 2], [k, 1, x]), list_distance([x::double, k], [k, x]), round(list_cosine_distance([1, k], [x, k]), 12), list_distance([x::real], [k::real]), list_inner_product(case when f then [m] end, [m]) from a where x <> 0 and k <> 0 and m is not null",
		"select list_median([1, 2, null]), list_median([]::integer[]), list_median([3, 1, 2]), list_stddev_pop([1, 2, null]), list_stddev_samp([1]), list_stddev_samp([1, 2]), list_var_pop([1]), list_var_samp([1]), list_var_samp([1, 2, 4]), list_approx_count_distinct([1, 1, null]), list_aggregate([1, 2, 4], 'median'), list_aggregate([1, 2, 4], 'stddev'), list_aggregate([1, 2], 'variance')",
		"select k, list_median(l), list_var_pop(l), list_stddev_samp(l), list_reverse(l), list_select(l, [2, 1]), list_resize(l, 2) from (select k, list(x order by id) as l from a group by k)",
		"select array_pop_back([1, 2]), array_pop_front([1, 2]), array_pop_back([]), array_pop_back(null), array_pop_front([])", "select list_transform(list_zip([1, 2], [3]), e -> e[1] + coalesce(e[2], 100)), list_zip([1, 2], [3], true)[1][2], list_transform(list_zip([1], null), e -> e[1]), list_transform(list_zip(null::integer[], [3]), e -> e[2]), len(list_zip(null::integer[], null::integer[])), list_transform(list_zip([1, 2]), e -> e[1])",
		"select list_transform(list_zip(l, [k, 7]), e -> coalesce(e[1], 0) - e[2]) from (select k, list(x order by id) as l from a group by k)", "select id, l[x], l[-x], l[x - 1], l[k] from (select id, x, k, ['a', s, 'b', null] as l from a)",
	}
	statements["several unnest, lists of no rows, values as text"] = []string{
		"select unnest([1, 2]), unnest([3, 4])", "select unnest([1, 2]), unnest([3, 4, 5]), id from a", "select id, unnest([x, k]), unnest([k, 1, 2]) from a", "select unnest([1, 2]), unnest([3]), unnest([]::integer[])", "select unnest(null), 1", "select unnest(null), unnest([1]), unnest(['a', 'b'])",
		"select k, unnest(list(x order by id)), unnest(list(id order by id)), unnest([count(*), 1]) from a group by k", "select distinct unnest([x, k]), unnest([1]) from a", "* select unnest([x, k]) as u, unnest([id]) as v from a order by u nulls first, v limit 5",
		"select id, unnest(l), unnest(m) from (select id, case when id % 3 = 0 then [x] when id % 3 = 1 then [] end as l, case when id % 2 = 0 then [s, 'b'] end as m from a)",
		"select list(x) from a where false", "select list(x) filter (where x > 1000), array_agg(s order by id) filter (where id < 2), coalesce(list(x) filter (where false), [1]) from a", "select k, list(x order by id) filter (where x > 1), list(distinct x order by x) filter (where x > 2) from a group by k",
		"select (select list(x order by id) from a where a.k = b.k) from b", "select list([x] order by id), list({'a': x} order by id), list(null) from a", "select k, list(id) over (partition by id) from a",
		"(select 3 as c union select 2) order by all", "* (select 3 as c, 1 as d union select 2, 2 union select 2, 1) order by all desc", "* (select k, x from a) union all (select k, id from b) order by all nulls first limit 7",
		"select t::varchar, (t + interval '1 microsecond')::varchar, t || '!', concat('at ', t), t::timestamp_ms::varchar, (t::date + interval 1 second)::varchar, null::timestamp::varchar from b", "select timestamp '2020-01-31 10:11:12.5'::varchar, timestamp '1969-12-31 23:59:59.999999'::varchar, timestamp '0001-01-01 00:00:00'::varchar, timestamp_ms '2020-01-01 00:00:00.010'::varchar",
		"select 1.50::decimal(5,2)::varchar, m::varchar, m || 'x', concat(m, '-'), (m / 1)::decimal(10,3)::varchar, m::decimal(9,0)::varchar, (-m)::varchar, (m * 0.01)::varchar, cast(x as decimal(5,1))::varchar, null::decimal(4,1)::varchar from a", "select string_agg(m::varchar, ',' order by id), min(m::varchar) from a", "select array_to_string([m, 1.5], '/'), [m]::varchar[], coalesce(m::varchar, '-') from a",
		"select '-999999999999999.999'::decimal(18,3)::varchar, '-0.01'::decimal(3,2)::varchar, '123456789012345678'::decimal(18,0)::varchar",
	}
	statements["spaces around numbers and times"] = []string{
		"select try_cast(u as date), try_cast(u as double), try_cast(u as boolean) from (select u || s as u from (values (' 12 '), ('2020-02-29 '), ('  2020-02-29'), (' 1.5'), ('true '), ('')) t(u), (select '' as s) q)",
		"select try_cast(u as integer), try_cast(u as bigint) from (select u || s as u from (values (' 12 '), ('7 '), (' 1 2'), (' '), ('2.5'), ('-2.5'), ('2.49'), ('1e3'), ('-0.99'), ('x1'), ('1e300'), ('300.4')) t(u), (select '' as s) q)", "select try_cast(m::varchar as integer), try_cast(m::varchar as smallint) from a",
	}
	statements["types and orders of set operations"] = []string{
		"select 1 as c union all select 'asdf'", "select id from a union select s from a", "select d, m from a union all select s, s from a", "select s, t from b union all select k::varchar, s from b", "select s from a except select id from a", "select f as c from a union all by name select s as c from a",
		"* select k from a union select w from c order by w", "* select k, id from a union all select w, k from c order by W desc nulls first, id, 1 limit 9", "* select k as x from a union select z from b union select w from c order by z, w", "select null as a union all select 'x' union all select 1",
	}
	statements["aggregates of subqueries with windows"] = []string{
		"select t1.id, (select coalesce(min((select max(x) over () from a limit 1)), 3) from c t11 where t11.k = t1.id) as c1 from a t1", "select t1.id, (select count((select sum(k) over () from b limit 1)) + 1 from c where c.k = t1.id) from a t1",
		"select t1.id, (select coalesce(min((select max(t17.d) from (select sum(k) over () as c1 from a) t12 join a t17 on t12.c1 = t17.id)), date '2020-01-31') from c t11 where t11.k = t1.id) as c1 from a t1",
	}
	statements["reductions of lists"] = []string{
		"select list_reduce([1, 2, 3], (a, b) -> a + b), list_reduce([x], (a, b) -> a * b), list_reduce([x, k, 3], (a, b, i) -> a + b * i, 10), list_reduce(null, (a, b) -> a + b), list_reduce([x, k, 3], (a, b, i) -> a + b * i) from a",
		"select list_reduce([], (a, b) -> a + b, 5), list_reduce([s, 'b'], (a, b) -> a || b, 'x'), list_reduce([x, null, k], (a, b) -> coalesce(a, 0) + coalesce(b, 0)), list_reduce([1, 2], lambda a, b: a + b), list_reduce([[x], [2, k]], (a, b) -> a || b) from a",
		"select list_reduce(['a', 'b'], (a, b) -> a || b, null), list_reduce([1, 2, 3], (a, b) -> a + b, 0.5), list_reduce([1, 2], (a, b) -> a + b + 0.5), list_reduce([true], (x, y) -> x and y, false), list_reduce([1.5, 2], (a, b) -> a + b, 1), list_reduce([x, k], (a, b) -> case when a > b then a else b end) from a",
		"select list_transform([x, k], e -> list_reduce([e, id, 1], (a, b) -> a - b)) from a",
	}
	statements["comparisons of nested values"] = []string{
		"select a.id, b.id from a join b on [a.k, a.k] = [3, b.id]", "select a.id, b.id from a join b on [a.k] = [b.z]", "select a.id, b.id from a left join b on [a.s] = [b.s] and [a.id] <> [b.id]", "select b.id, c.id from b full join b c on [b.v, b.id] = [c.v, c.id]",
		"select a.id, b.id from a join b on {'a': a.k, 'b': a.s} = {'a': b.z, 'b': b.s}", "select a.id, b.id from a full join b on case when a.f then {'a': a.k} end = case when b.id > 4 then {'a': b.k} end", "select a.id, b.id from a join b on case when a.f then [a.k] end = case when b.id > 4 then [b.k] end",
		"select [1, 2] = [1, 2], [1] < [2], [1, null] = [1, null], [1, 2] < [1], [1] < [1, 2], [null] < [1], [1] < [null], [] < [1], [1, null] < [1, 2], [1] = null, [1] <> [2], [1, null] is distinct from [1, null], [1] is not distinct from null, [1] = [1.0]",
		"select [k, x] = [x, k], [k] < [x], [s, 'a'] >= ['a', s], [[x], [k]] <= [[k], [x]], {'a': x, 'b': s} = {'a': k, 'b': s}, {'a': x} < {'a': k}, [m] = [x], [y] = [x], [x, k] is distinct from [x, 2] from a",
		"select id, [x, k] in ([1, 1], [0, null], [k, x]), list_contains([[1], [x]], [k]), list_position([[1], [x]], [x]), list_has_any([[x]], [[k], [1]]), list_distinct([[1], [1]]) from a", "select nullif([x], [k]), case [x] when [1] then 'one' when [k] then 'k' end from a",
		"select a.id, b.id from a join b on [a.k, a.id] = [b.k, b.id]", "select v, [v] = [z], [v] < [1.5::double], [v, z] > [z, v], {'v': v} >= {'v': z} from b", "select id from a where [x, k] > [k, x] or {'a': s, 'b': [x]} = {'a': s, 'b': [k]}", "select l, r, l < r, l = r, l is distinct from r from (values ([1], [2]), (null, [1]), ([], []), ([null], [null]), (null, null)) t(l, r)",
	}
}
