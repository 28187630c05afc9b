package duckdb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// statements are statements by class. Those with a * before them are compared in the order of the rows.
var statements = map[string][]string{
	"select": {
		"select * from a", "select id, x + 1 as y1, y * 2 from a where x > 1", "select a.* from a where s = 'Oslo' or f",
		"* select id, x from a order by x, id", "* select id, x from a order by x desc, id", "* select id from a order by x nulls first, id desc",
		"* select id, s from a order by 2, 1 limit 5 offset 2", "* select id from a order by y desc nulls first, id limit 3",
		"select distinct k, f from a", "select distinct on (k) k from a", "select 1", "select 1 + 1 as n, 'x' as t, null as u",
		"select * exclude (y, s) from a", "select * replace (x + 1 as x) from a", "select x as v, v * 2 as w from a", "from a select id",
		"select count(*) from a", "select A.ID, \"X\" from A", "select id from a where x is null", "select id from a limit 0",
		"* select id, x + k as xk from a order by xk, id", "* select id from a order by x + k desc, id", "select distinct x + 1 from a",
	},
	"expressions": {
		"select id, x / 2, x // 2, x % 3, -x, x * k - 1, y / 3, m * m, m + 1, m / 3 from a",
		"select id, x / 0, x // 0, x % 0, y / 0 from a",
		"select 7 // 2, -7 // 2, 7 // -2, -7 % 3, 7 % -3, 1 / 3, 2 ** 3, 2 ^ 10",
		"select id, case when x > 2 then 'big' when x > 0 then 'small' else s end from a",
		"select id, case x when 1 then 'one' when 2 then 'two' end from a", "select id, case when f then 1 else 2.5 end from a",
		"select id, x between 1 and 3, x not between k and 5 from a",
		"select id, x in (1, 2, null), x not in (1, 2), x in (k, 3), s in ('a', 'Oslo'), d in ('2020-02-29', '1999-12-31') from a",
		"select id, s like '%o', s not like 'O%', s ilike 'o%', s like '_', s like 'ä\\%%' escape '\\' from a",
		"select id, s ~ 'O.*', s ~ 's', s similar to '(a|b)c?' from a",
		"select id, f and x > 1, f or x > 1, not f, f is true, f is not true, f is false, f is unknown, f is not false from a",
		"select id, x is distinct from k, x is not distinct from k, x is not distinct from null from a",
		"select id, coalesce(x, k, 0), nullif(x, 1), ifnull(s, '-'), greatest(x, k), least(x, k, 2) from a",
		"select id, abs(x), abs(m), sign(y), sqrt(abs(y)), floor(y), ceil(y), round(y), round(y, 1), round(m, 1), trunc(y), exp(x / 100), ln(abs(y) + 1), log10(abs(y) + 1), log(abs(y) + 1), pow(x, 2) from a",
		"select id, cast(x as double), cast(y as integer), x::varchar, cast(m as integer), cast(f as integer), cast(d as timestamp), cast(d as varchar), y::bigint, m::double, y::decimal(10,1) from a",
		"select cast('12' as integer), cast('2020-01-01' as date), '1.5'::double, '7'::decimal(5,2), cast(2.5 as integer), cast(3.5 as integer), cast(-2.5 as integer), 2.5::double::integer",
		"select id, 1.5 + x, x * 0.1, m * 0.06, y + 1.1, 1e3 + x from a", "select id, x & 3, x | 4 from a",
		"select round(2.5::double), round(-2.5::double), round(0.5::double), round(1.005::double, 2), round(2.675, 2), round(3.5::double), round(1e300)",
		"select if(true, 1, 2), 9223372036854775807, 170141183460469231731687303715884105727 > 1",
		"select m > 1, m = 1.25, m < x, m > y from a",
		"select 0.06 - 0.01, 0.06 + 1, 1.5 * 0.25, 2 - 3, 7 * 6, -1.5 - -0.25, 1 - 1.0, id from a where m between 1.26 - 0.01 and 9 + 1.5",
		"select x, x + null, null and f, null or f, x = null, null is null from a",
	},
	"text": {
		"select id, lower(s), upper(s), length(s), reverse(s), trim(s), ltrim(s), rtrim(s), s || '-' || id, concat(s, '-', x) from a",
		"select id, substring(s, 2), substring(s, 1, 2), substr(s, 2, 1), left(s, 2), substring(s from 2 for 2), substring(s, 0, 2), substring(s, -2) from a",
		"select id, strpos(s, 's'), position('e' in s), contains(s, 'l'), starts_with(s, 'O'), suffix(s, 'o'), replace(s, 'o', '00'), repeat(s, 2) from a",
		"select id, regexp_matches(s, '[a-c]'), regexp_full_match(s, '[a-c]+'), regexp_replace(s, '[aeiou]', '#', 'g') from a",
		"select id from a where s < 'b'", "select s, count(*) from a group by s", "select min(s), max(s) from a", "select id, s || null from a",
		"select extract(year from d), 'O''x' from a",
		"select id, substring(s, strpos(s, 's') + 1), substr(s, x, 2), substring(s, 2, x), substring(s, -2, k) from a where x > 0",
		"select id, strpos(s, t), contains(s, t), starts_with(s, t), ends_with(s, t), position(t in s), strpos('Oslo', s) from (select id, s, substring(s, 2) as t from a)",
		"select id, md5(s), sha1(s), sha256(s), translate(s, 'Oslä', 'o5'), nfc_normalize(s), strip_accents(s) from a",
		"select id, levenshtein(s, 'Oslo'), jaccard(s, 'Oslo'), round(jaro_similarity(s, 'Oslo'), 9), round(jaro_winkler_similarity(s, 'Oslo'), 9) from a where s <> ''",
		"select id, regexp_extract_all(s, '[a-l]+'), regexp_extract_all(s, '(l)?(o)', 1), string_split_regex(s, '[aeiou]'), regexp_split_to_array(s, 'l+') from a",
		"select id, jaro_similarity('a', 'a'), jaro_similarity(s, s), jaro_winkler_similarity(left(s, 1), 'O') from a",
		"select id, substring(s, 2, x - 3), substring(s, 3, -2), substring(s, -1, -1), substring(s, x, k - 4), substring(s, 0, x - 3), substring(s, 99, -3), substring(s, 5, -3), substring(s, 6, -3), substring(s, -99, -3) from a",
		"select id, printf('%x|%X|%o', x - 3, x - 3, -k), format('{:6}|{:<6}|{:>6}|{:5}|{:<5}', s, s, s, x, x), format('{:8}', f) from a",
		"select id, format('{}-{}', s, x), format('{:03d}|{:.2f}|{{}}', x, y), printf('%s=%d', s, x), printf('%5.1f%%', y), printf('%x', abs(x)) from a",
		"select id, json_extract_string(j, '$.s'), json_extract_string(j, '$.l[1]'), cast(json_extract_string(j, 'x') as integer), cast(json_extract(j, '$.l') as varchar), json_keys(j, '$') from (select id, concat('{\"s\": \"', s, '\", \"x\": ', coalesce(x, 0), ', \"l\": [1, ', coalesce(k, 2), ']}') as j from a)",
	},
	"dates": {
		"select id, year(d), month(d), day(d), quarter(d), dayofweek(d), isodow(d), dayofyear(d), week(d), isoyear(d), hour(d) from a",
		"select id, hour(t), minute(t), second(t), extract(year from t), date_part('month', t), epoch(t) from b",
		"select id, date_trunc('month', d), date_trunc('year', d), date_trunc('week', d), last_day(d) from a",
		"select id, date_trunc('hour', t), date_trunc('day', t), date_trunc('month', t), t::date from b",
		"select id, d + 1, d - 1, d + interval 1 day, d + interval '1' month, d - interval '1 year 2 days', d - date '2020-01-01', d + interval (x) day from a",
		"select id, t + interval 1 hour, t - interval '90 minutes', t + interval (k) month from b",
		"select id from a where d >= date '2000-01-01' and d < date '2020-01-01' + interval '1' year",
		"select id from a where d > '2020-01-31'", "select id from b where t >= '2020-01-31 10:00:00'", "select id from b where t > date '2020-01-31'",
		"select date '2020-01-31' + interval '1' month, timestamp '2020-01-31 10:00:00' - interval 1 day",
		"select id, date_diff('day', d, date '2020-03-01'), date_diff('month', d, date '2020-03-01'), date_diff('year', d, date '2020-03-01') from a",
		"select id, strftime(d, '%Y/%m/%d') from a",
		"select d, count(*) from a group by d", "select min(d), max(d), min(t) from a, b",
	},
	"groups": {
		"select k, count(*), count(x), sum(x), avg(x), min(x), max(x) from a group by k", "select k, f, sum(y) from a group by k, f",
		"select x % 2 as p, count(*) from a group by p", "select x % 2, count(*) from a group by 1", "select x % 2, count(*) from a group by x % 2",
		"select k, sum(x) from a group by all", "select k + 1, sum(x) + 1 from a group by k", "select k, f, count(*) from a group by all having count(*) > 1",
		"select sum(x), count(*), avg(y), min(s) from a where false", "select k from a group by k", "select count(*) from a having count(*) > 100",
		"select k, count(distinct x), sum(distinct x), avg(distinct x), min(distinct x) from a group by k", "select count(distinct s), sum(distinct x) from a",
		"select k, count(*) filter (where x > 1), sum(x) filter (where f), sum(distinct x) filter (where x > 0) from a group by k",
		"select k, bit_and(x), bit_or(x), bit_xor(x), bit_or(x) filter (where x > 0), round(entropy(x), 9), round(entropy(s), 9) from a group by k", "select bit_and(x), entropy(s) from a where id < 0",
		"select k, map_entries(histogram(x)) from a group by k having count(x) > 0", "select id, map_entries(map([1, 2], [x, k])), map_entries(map_from_entries([{'key': 1, 'value': x}])) from a",
		"select k, stddev(x), var_samp(y), var_pop(x), stddev_pop(x), median(x), quantile_cont(y, 0.25) from a group by k",
		"select k, bool_and(f), bool_or(f), any_value(k) from a group by k", "select corr(x, y), covar_samp(x, k) from a",
		"select sum(m), avg(m), min(m), sum(z) from b", "select k, string_agg(s, ',' order by id) from a group by k", "select k, list(id order by id desc) from a group by k",
		"select k, sum(x) as t from a group by k having t > 3", "* select k, sum(x) as t from a group by k order by t desc nulls last, k", "* select k from a group by k order by sum(x), k",
		"select k, x, count(*) from a group by rollup(k, x)", "select k, f, sum(x), grouping(k), grouping(k, f) from a group by cube(k, f)",
		"select k, f, count(*) from a group by grouping sets ((k), (f), ())", "select k, f, count(*) from a group by f, rollup(k)",
		"select count(*), count(1), sum(1) from a", "select k, max(x) - min(x) as spread from a group by k having max(x) > min(x)",
		"select avg(z), sum(z), max(z) from b", "select case when x > 1 then 'p' else 'q' end as g, count(*) from a group by g",
		"select k, count(*) from e group by k", "select count(*), sum(v) from e", "select sum(x) + count(*) * 2 from a", "select k from a group by k, f having f",
		"select count(*) from (select distinct k, f from a)", "select a.k, count(*) from a group by a.k", "select year(d), count(*) from a group by year(d)",
	},
	"joins": {
		"select a.id, b.id from a join b on a.k = b.k", "select a.id, b.z from a left join b on a.k = b.k and b.z > 1", "select a.id, b.id from a right join b on a.k = b.k",
		"select a.id, b.id from a full join b on a.k = b.k", "select a.id, c.w from a, c where a.k = c.k", "select a.id, b.id, c.w from a, b, c where a.k = b.k and b.k = c.k and a.x > 0",
		"select * from a join c using (k)", "select k, id, w from a left join c using (k)", "select k, a.id from a full join c using (k)", "select * from b natural join c",
		"select a.id, c.w from a cross join c", "select a.id, c.w from a join c on a.x < c.w", "select a.id, c.w from a left join c on a.x < c.w and a.k = c.k",
		"select id from a semi join c using (k)", "select id from a anti join c using (k)", "select id from a anti join c on a.k = c.k and c.w > 1",
		"select l.id, r.id from a l join a r on l.k = r.x", "select a.id, b.id from a join b on a.k = b.k or a.x = b.k", "select a.id, b.id from a join b on a.k + 1 = b.k",
		"select a.id, x.n from a join (select k, count(*) as n from b group by k) x on x.k = a.k", "select a.id, b.id from a left join b on a.k = b.k where b.id is null",
		"select count(*) from a, b, c", "select a.id, b.id from a, b where (a.k = b.k and a.x > 1) or (b.z > 1 and a.k = b.k)", "select a.id, b.id from a left join b on (a.k = b.k and a.x > 1) or (b.z > 1 and a.k = b.k)",
		"select a.id from a, b, c where a.k = b.k and c.k = b.k and a.id in (select id from b where z > 0) and exists (select 1 from c c2 where c2.k = b.k and c2.w > 1) and not exists (select 1 from e where e.k = a.x and e.v = c.w)", "select a.id, e.v from a left join e on a.k = e.k", "select a.id from a join e on a.k = e.k",
		"select a.id, b.id, c.w from a left join b on a.k = b.k left join c on b.k = c.k", "select a.id, b.id from a join b on a.s = b.s and a.m < b.m",
		"select k from a right join c using (k)", "select a.id, b.z from a left join b on true and a.x = b.k and a.f", "select a.id, b.id from a left join b on a.k = b.k and a.x > 1",
		"select a.id, b.id from a full join b on a.k = b.k and a.x > 1", "select a.id, c.w from a left join c on a.x < c.w", "select a.id, c.w from a full join c on a.x < c.w", "select id from a anti join c on a.x < c.w", "select id from a semi join c on a.x < c.w",
	},
	"as-of joins": {
		"select a.id, b.id from a asof right join b on a.k = b.k and a.id >= b.id", "select a.id, b.id from a asof full join b on a.k = b.k and a.id >= b.id", "select a.id, b.id from a asof right join b on a.id < b.id", "select * from (from a where x is not null) a asof full join (from b where z is not null) b on a.k = b.k and a.x > b.z",
		"select k, id, z from a asof right join b using (k, id)", "select k, id, x, z from a asof full join b using (k, id)", "select id from a asof semi join b using (k, id)", "select id from (from a where k is not null) a asof anti join b using (k, id)", "select a.id from a asof anti join b on a.id > b.id * 3",
		"select a.id, b.id, c.w from a asof full join b on a.k = b.k and a.id >= b.id left join c on c.k = b.k where b.id > 3 or b.id is null", "select count(*), sum(a.x), sum(b.z) from a asof right join (select * from b where z > 1 or z is null) b on a.s = b.s and a.id <= b.id", "select a.id, e.v from a asof full join e on a.id >= e.v", "select a.id, e.v from e asof right join a on a.id >= e.v",
		"select a.id, b.id from a asof join b on a.k = b.k and a.id >= b.id", "select a.id, b.id from a asof left join b on a.k = b.k and a.id >= b.id",
		"select a.id, b.id from a asof join b on b.id < a.id and a.k = b.k", "select a.id, b.id from a asof left join b on a.id <= b.id", "select a.id, b.z from a asof join b on a.k = b.k and a.s = b.s and a.id > b.id",
		"select k, id, z from a asof join b using (k, id)", "select id, z from a asof left join b using (id)", "select a.id, x.n from a asof join (select id as n from b where z > 0) x on a.id >= x.n",
		"select a.id, b.id, c.w from a asof join b on a.k = b.k and a.id >= b.id join c on c.k = b.k where a.id > 3", "select a.id, b.id from a asof join b on a.id + 1 >= b.id * 2",
	},
	"sets": {
		"select k from a union select k from b", "select k from a union all select k from b", "select k from a intersect select k from b", "select k from a except select k from b",
		"select k from a intersect all select k from b", "select k from a except all select k from b", "select x, 1 as n from a union select z, 2.5 from b",
		"* select k from a union select w from c order by k nulls first", "* (select k from a) union all (select k from c) order by 1 limit 4", "select 1 union select 2 union all select 2",
		"values (1, 'a'), (2, null)", "select * from (values (1, 2), (3, 4)) v(p, q) where p > 1", "select null union select 1", "select s from a union select name from c",
		"select k from a union all select k from b except select 1",
	},
	"ctes": {
		"with t as (select k, sum(x) as n from a group by k) select * from t where n > 1", "with t as (select k from a), u as (select k from t where k > 0) select t.k, u.k from t join u on t.k = u.k",
		"with t(p) as (select x from a) select p from t where p > (select avg(p) from t)", "select * from (select id, x from a) q where q.x = 1", "with a as (select 5 as id) select id from a",
		"with t as (select * from a) select t1.id, t2.id from t t1, t t2 where t1.k = t2.x",
	},
	"recursion": {
		"with recursive t(n) as (select 1 union all select n + 1 from t where n < 10) select * from t",
		"with recursive t(n) as (select 1 union all select n + 1 from t where n < 10) select sum(x.n), count(*) from t x join t y on x.n = y.n + 1",
		"with recursive t as (select id, k from a where id = 3 union select a.id, a.k from a join t on a.k = t.id) select * from t",
		"with recursive t(x, y) as (values (1, 'a') union select (x * 3) % 7, y from t) select * from t",
		"with recursive t(n, f) as (select 0, 1.0::double union all select n + 1, f * 1.5 from t where n < 5) select n, f from t",
		"with recursive r as (select 1 as n), s as (select n from r union all select n + 2 from s where n < 9) select * from s, r",
		"with recursive p(src, dst, hops) as (select x, k, 1 from a where x is not null and k is not null union select p.src, a.k, hops + 1 from p join a on a.x = p.dst where hops < 4 and a.k is not null) select src, dst, min(hops) from p group by all",
		"with recursive t(n) as (select null union all select 1 from t where n is null) select * from t", "with recursive t(n) as (select 1 where false union all select n + 1 from t) select * from t",
		"with recursive t(n) as (select 2 union all (select n * n from t where n < 100)) select n from t where n > (select avg(n) from t)",
	},
	"subqueries": {
		"select id from a where exists (select 1 from b where b.k = a.k)", "select id from a where not exists (select 1 from b where b.k = a.k and b.z > a.x)",
		"select id from a where exists (select * from b where b.k = a.k and b.id <> a.id)", "select id from a where k in (select k from b)", "select id from a where k not in (select k from b)",
		"select id from a where k not in (select k from b where k is not null)", "select id from a where id not in (select id from b where id > 3)", "select id from a where id not in (select k from b)", "select id from a where x not in (select id from b)", "select id from a where x + 1 not in (select id from b where false)", "select a.id from a, c where a.k = c.k and a.id not in (select b.id from b left join e on b.k = e.k) and c.w not in (select max(w) from c)", "select id from a where k not in (select v from e)", "select id, k in (select k from b) from a", "select id, k not in (select k from c) from a",
		"select id, k in (select v from e) from a", "select id from a where x in (select z from b where b.k = a.k)", "select id from a where x not in (select z from b where b.k = a.k)",
		"select id, x in (select z from b where b.k = a.k) from a", "select id, (select max(z) from b) from a", "select nullif((select min((select min(null) from b)) from c), date '2020-01-01')", "select id, (select max(z) from b where b.k = a.k) from a",
		"select id, (select count(*) from b where b.k = a.k) from a", "select id, (select count(*) + 1 from b where b.k > a.k) from a", "select id, (select coalesce(sum(z), 0) from b where b.k = a.k and b.id < a.id) from a",
		"select id from a where x > (select avg(x) from a a2 where a2.k = a.k)", "select id from a where x = (select max(x) from a a2 where a2.k = a.k)", "select id from a where (select count(*) from b where b.k = a.k) = 0",
		"select id, exists (select 1 from b where b.k = a.k) from a", "select id, exists (select 1 from e) or f from a", "select id from a where exists (select 1 from b) and x > 0", "select id from a where not exists (select 1 from e)",
		"select id from a where x > any (select w from c)", "select id from a where x >= all (select w from c where w is not null)", "select id from a where x < all (select v from e)", "select id, x = all (select w from c), x <> any (select w from c), x = all (select v from e), x <> any (select v from e), x = all (select w from c where c.k = a.k) from a", "select id from a where k <> any (select k from c where c.k > a.k)", "select id, x > all (select w from c), x < any (select w from c where c.k = a.k), x = any (select w from c), x <> all (select w from c) from a",
		"select id from a where exists (select 1 from b where b.k = a.k and exists (select 1 from c where c.k = b.k and c.w = a.x))", "select id from a where x in (select max(z) from b group by k)",
		"select id, (select b.z from b where b.k = a.k order by b.z desc, b.id limit 1) from a", "select id, (select s from b where b.id = a.id limit 1) from a",
		"select id, q.n from a, lateral (select count(*) as n from b where b.k = a.k) q", "select c.k, q.n from c, lateral (select count(*) as n from a where a.k < c.k and exists (select 1 from b where case b.s when 'a' then a.x else 2 end not in (select id from a where f))) q",
		"select id, q.z from a, lateral (select z from b where b.k = a.k) q", "select id, q.z from a left join lateral (select z from b where b.k = a.k) q on true",
		"select k, (select count(*) from b where b.k = a.k) from a group by k", "select k, sum(x) from a group by k having sum(x) > (select avg(w) from c)", "select k from a group by k having exists (select 1 from b where b.k = a.k)",
		"select id from a where exists (select k from b where b.k = a.k group by k having count(*) > 1)", "select id from a where x = (select sum(w) from c where c.k = a.k having count(*) > 1)",
		"select id from a where exists (select 1 from b where b.k = a.k union select 1 from c where c.k = a.x)", "select id from a where k in (select k from b union select w from c)",
		"select id, (select count(*) from b where b.k = a.k or b.id = a.x) from a", "select sum((select count(*) from b where b.k = a.k)) from a", "select id from a where k in (select k from b where b.z > 0) or x in (select w from c)",
		"select id, case when exists (select 1 from c where c.k = a.k) then 'y' else 'n' end from a", "select id from a where not (k in (select k from b))", "select id from a where (select max(w) from c where c.k = a.k) is null",
		"select id, (select count(distinct b.z) from b where b.k = a.k) from a", "select id from a where id in (select b.id from b where b.m > a.m)", "select id from a where exists (select count(*) from b where b.k = a.k)",
	},
	"frames": {
		"select id, sum(x) over (order by id range between 2 preceding and 1 following) from a", "select id, count(*) over (partition by f order by x range between 1 preceding and current row) from a",
		"select id, sum(id) over (order by x desc range between 2 preceding and 1 following) from a", "select id, sum(id) over (order by y range between 1.5 preceding and unbounded following) from a",
		"select id, count(*) over (order by d range between interval 30 day preceding and interval 1 day following) from a", "select id, count(*) over (order by x range between unbounded preceding and 3 following) from a",
		"select id, count(*) over (order by t range between interval 40 day preceding and interval '1' hour following) from b", "select id, sum(id) over (order by x nulls first range between 1 following and 5 following) from a",
		"select id, lag(x, 1, -1) over (order by id), lead(x, 2, 0) over (partition by f order by id), lag(x, 3, id) over (order by id desc), lead(s, 1, 'none') over (order by id) from a",
	},
	"frequencies in frames": {
		"select id, count(distinct x) over (order by id rows between 2 preceding and 1 following), count(distinct s) over (partition by f order by k, id), count(distinct x) over (order by k groups between 1 preceding and current row) from a",
		"select id, count(distinct x) over (), count(distinct s) over (partition by k), count(distinct x) filter (where id > 2) over (order by id rows unbounded preceding), count(distinct x) over (order by y range between 2 preceding and 1 following) from a",
		"select id, count(distinct y) over (order by id desc rows between 1 following and 3 following) from a",
		"select i, mode(v) over (order by i rows between 2 preceding and current row), count(distinct v) over (order by i rows between 4 preceding and 1 following) from (select i, (i * i) % 3 as v from (select unnest(range(50)) as i))",
		"select i, mode(v) over (order by i), mode('x' || v) over (partition by i % 2 order by i rows between unbounded preceding and unbounded following) from (select i, (i * i) % 3 as v from (select unnest(range(1, 51)) as i))",
		"select id, bit_or(x) over w, bit_and(x) over w, bit_xor(k) over w, any_value(x) over w from a window w as (order by id rows between 2 preceding and 1 following)",
		"select id, arg_max(x, id) over w, arg_min(s, -id) over w, max_by(id, -id) over (partition by f order by id rows between 2 preceding and current row) from a where y is not null window w as (order by id rows between 3 preceding and 1 following)",
	},
	"frames of months": {
		"select id, count(*) over (order by d range between interval 1 month preceding and current row) from a", "select id, sum(id) over (partition by k order by d desc range between interval '1 year 2 months' preceding and interval 3 day following) from a",
		"select id, count(*) over (order by t range between interval 1 quarter preceding and interval '1 month 1 day 2 hours' following) from b", "select id, min(id) over (order by d nulls first range between interval 20 years preceding and interval 1 month preceding) from a",
		"select d, count(*) over w, sum(v) over w, min(v) over w, max(v) over w from (select date '2023-12-28' + cast(i as integer) as d, i as v from (select unnest(range(100)) as i)) window w as (order by d range between interval 1 month preceding and interval 1 month following)",
		"select d, sum(v) over (order by d desc range between interval '1 month 1 day' preceding and interval 2 days preceding), first_value(v) over (order by d range between interval 1 quarter preceding and unbounded following) from (select date '2023-12-28' + cast(i as integer) as d, i as v from (select unnest(range(100)) as i))",
		"select t, count(*) over (order by t range between interval '1 month 2 hours' preceding and interval 1 week following) from (select timestamp '2024-01-30 10:30:00' + interval (i * 7) hour as t from (select unnest(range(200)) as i))",
	},
	"patterns": {
		"select id, s glob 'O*', s glob '?', s glob '[a-z]*', s glob '[!a]*', s glob '*x', s glob 'a.c' from a",
	},
	"within groups": {
		"select k, percentile_cont(0.25) within group (order by y), percentile_cont(0.25) within group (order by y desc) from a group by k",
		"select k, mode() within group (order by k) from a group by k",
	},
	"samples": {
		"select count(*) from a using sample 5 rows", "select count(*) from a tablesample 100%", "select count(*) from (select * from a tablesample reservoir(3 rows) repeatable (7)) x, b", "select count(*) from a using sample 0 percent",
	},
	"zones": {
		"select id, (t at time zone 'UTC') at time zone 'Europe/Oslo', (t at time zone 'America/New_York') at time zone 'UTC' from b",
	},
	"pivots": {
		"pivot a on k in (1, 2, 7) using sum(x) group by f", "pivot (select k, f, x from a) on f using sum(x)", "pivot (select k, s, x from a) on k using sum(x) as t, count(*) as n group by s",
		"select * from (select k, f, x from a) pivot (max(x) for k in (1, 2 as two) group by f) p where p.two is not null or f", "from (pivot (select s, x from a) on s using count(x)) select *", "pivot (select k, f from a) on k",
		"with t as (select id, x, k from a) from t unpivot (v for n in (x, k))", "unpivot (select id, x, k from a) on x, k into name n value v", "unpivot (select id, x, y from a) on * exclude (id)",
		"select n, sum(v) from (select id, x, k from a) unpivot include nulls (v for n in (x, k)) u group by n", "select u.id, u.value from (unpivot (select id, s, cast(x as varchar) as c from a) on s, c) u join b on u.id = b.id",
	},
	"lists": {
		"select id, unnest(l) from (select k as id, list(id order by id) as l from a group by k)", "select id, unnest(l) as e from (select k as id, list(x order by id) as l from a group by k) order by e limit 7",
		"select * from unnest([1, 2, null]) t(x)", "select unnest([3, 1]) as n, id from a where id < 3", "select a.id, u.x from a, unnest([1, 2]) u(x) where a.x = u.x", "select unnest(list(x order by id)) from a",
		"select k, l[1:2], l[2:], l[:1], l[3:2], l[2] from (select k, list(id order by id) as l from a group by k)", "select id, s[1:2], s[2:], s[2:2] from a", "select count(*) from (select k, unnest(l) as e from (select k, list(id) as l from a group by k)) where e > 3",
		"select distinct unnest(l) from (select list(k) as l from a)", "select a.id from a join unnest([1, 2]) u(x) on a.x = u.x", "select a.id, u.x from a left join unnest([1, 2]) u(x) on a.x = u.x",
	},
	"stars": {
		"select * like 'x%' from a", "select * ilike 'X' from a", "select * not like '%d%' from a", "select * similar to '(x|y)' from a", "select columns('^[xy]$') from a", "select columns(*) from c", "select id, columns(* exclude (id, y, s)) from a",
		"select min(columns('x|y')), count(columns(* exclude (s))) from a", "select k, max(columns('[xd]')) from a group by k", "select coalesce(columns('x'), 0) from a",
	},
	"by name": {
		"select id, x from a union by name select x, id from a", "select id, x from a union all by name select z, id from b", "select x as k from a union by name select name, k from c", "select k, name from c union all by name select name from c union all by name select w from c",
	},
	"windows of subqueries": {
		"select name, (select coalesce(min(case t2.name when 'Oslo' then t2.name else t1.name end), '') from c t2) from c t1", "select id, (select sum(b1.k + a.k) from a b1 where b1.f = a.f), (select max(b1.x) filter (where b1.x < a.k) from a b1) from a",
		"select id, x - (select avg(x) from a) from a", "select id from a where x > (select avg(x) from a)", "select id, (select count(*) from a q where q.k = a.k) from a",
		"select id, (select sum(x) from a q where q.k = a.k and q.x > 0) from a where f", "select id, (select sum(x) from a q where q.k = a.k and q.f) from a where f",
		"select id, (select sum(x) from a q where q.k = a.k and q.f and q.x > 1) from a where f", "select id, (select count(x) from a q where a.k = q.k and a.s = q.s) from a",
		"select a.id, (select avg(x) from a q where q.k = c.k) from a, c where a.k = c.k and c.w > 1", "select a.id, (select sum(x) from a q where q.k = c.k) from a, c where a.k = c.k",
		"select a.id, (select avg(x) from a q where q.k = c.k) from a, c where a.k = c.k and a.x = c.w", "select a.id, (select max(x) from a q where q.k = a.k) from a, c where a.k = c.k and a.k > 1",
		"select a.id from a, b where a.k = b.k and a.x < (select max(p.x + q.z) from a p, b q where p.k = q.k and p.k = a.k)",
		"select a.id from a join b on a.k = b.k where a.x < (select avg(p.x + q.z) from a p join b q on p.k = q.k)",
		"select k, sum(x) from a where f group by k having sum(x) > (select sum(x) * 0.1 from a where f)", "select k, count(*) from a group by k having count(*) > (select count(*) / 5 from a)",
		"select k, sum(x) from a where f group by k having sum(x) > (select max(x) from a where f)", "select k, sum(x), (select sum(x) from a) from a group by k",
		"select count(*), (select count(*) from a) from a", "select k, sum(x) from a group by rollup(k) having sum(x) >= (select sum(x) / 2 from a)",
		"select id from a where x in (select z from b) and x >= (select avg(x) from a)", "with t as (select k, x from a where x > 0) select k, (select sum(x) from t q where q.k = t.k) from t",
		"select id, (select min(x) filter (where f) from a q where q.k = a.k) from a", "select id from a where x = (select max(x) from a) and y < (select max(y) from a)",
	},
	"alternatives": {
		"select a.id, b.id from a, b where a.k = b.k and ((a.x = 1 and b.z > 1) or (a.x = 2 and b.z < 3))", "select l.id, r.id from a l, a r where (l.s = 'a' and r.s = 'b') or (l.s = 'b' and r.s = 'a')",
		"select a.id, c.w from a, c where (a.x > 1 and a.k = c.k) or (a.x < 1 and c.w > 1)", "select a.id, c.w from a, c where (a.x > 1 and c.w > 2) or c.w is null",
	},
	"orders in aggregates": {
		"select k, string_agg(distinct s, '-' order by s), list(distinct x order by x desc), string_agg(distinct s order by s desc) from a group by k", "select k, any_value(x order by id desc) from a group by k",
		"select k, mode(x order by x), count(distinct x) from a group by k", "select k, mode() within group (order by x desc) from a group by k", "select string_agg(distinct s, '/' order by s) filter (where f) from a",
	},
	"arguments of aggregates": {
		"select k, arg_max(s, y), arg_min(s, id), max_by(id, id), min_by(x, id), arg_max(x, id), arg_max(null, id), arg_max(id, null) from a group by k", "select arg_max(s, id) filter (where f), arg_min(distinct s, id), arg_max(id, x) from (select id, s, f, case when x = 7 and id < 9 then 200 else x end as x from a) where id < 9",
		"select k, regr_slope(id * id, id), regr_intercept(y, x), regr_r2(y, x), regr_intercept(m, id), regr_r2(id, id) from a group by k having count(*) > 1", "select regr_slope(y, x), regr_intercept(id, k), regr_r2(x, y), regr_intercept(x, 1), regr_slope(null, x) from a", "select regr_slope(y, x) filter (where f), regr_r2(y, x) filter (where id > 5), corr(y, x) filter (where f) from a",
		"select k, mode() within group (order by k), mode() within group (order by k desc), string_agg(s, ',' order by id desc) from a group by k",
		"select k, string_agg(s, ',' order by id), string_agg(s, ',' order by id desc), sum(x), list(id order by x desc nulls last, id) from a group by k", "select list(id order by id), list(id order by id desc), count(*) from a", "select k, f, list(id order by id), list(id order by id desc) from a group by rollup (k, f)", "select first(s order by id), last(s order by id), first(s order by id desc) filter (where f) from a where k < 0", "select concat_ws(', ', s, k, s, 'x'), concat_ws('', 'a', s), concat_ws('-', s), concat_ws('-', 'a', 'b'), concat_ws('-', 'a', null) from a",
		"select log2(8), log2(pow(2, id)), log2(x) from a where x > 0",
		"select gcd(id, k), gcd(-id, 12), greatest_common_divisor(x, 18), lcm(id, k), least_common_multiple(id, 6), lcm(-4, 6), gcd(0, 0), lcm(0, 3), factorial(abs(id % 20)) from a",
		"select lcm(100::tinyint, 3::tinyint), lcm(3::utinyint, 200::utinyint), gcd((-128)::tinyint, 0::tinyint), lcm(9223372036854775807, x * 0 + 9223372036854775807), lcm(x * 0 + 3037000500, 3037000499), lcm(x::tinyint, k::smallint), lcm(id::utinyint, x), gcd(x::bigint, k::tinyint), lcm(id, k) + 1, lcm(null, 3), factorial(null) from a",
		"select k, mad(y), mad(id), mad(x) filter (where f), geomean(abs(y) + 1) from a group by k", "select mad(y), geomean(id) from a where id > 0", "select mad(y), geomean(y) from a where id < 0",
	},
	"texts of numbers and dates": textCasts(),
	"joins by bounds": {
		"select a.id, b.id from a left join b on a.id > b.id and a.x < b.z", "select a.id, b.id from a left join b on a.id > b.id and a.id < b.id + 3 and a.f", "select id from a semi join b on a.id > b.id and a.x <= b.id + 3", "select id from a anti join b on a.x > b.id and a.x <= b.id + 3",
		"select a.id, b.id from a right join b on a.id > b.id and a.id < b.id + 3", "select a.id, b.id from a full join b on a.id > b.id and a.id < b.id + 3", "select a.id, b.id from a left join b on a.x > 2", "select a.id, b.id from a left join b on b.z > 2", "select a.id, b.id from a left join b on true", "select a.id, b.id from a left join b on false",
		"select a.id from a semi join b on true", "select a.id from a anti join b on false", "select a.id from a semi join b on a.x > 2", "select a.id from a anti join e on a.x > e.k",
	},
	"orders before lists": {
		"select string_agg(s, ',' order by id desc), max(['a', 'b'][1]) from a", "select k, list(id order by x desc, id), min([3, 1][2]), count(unnested) from a, unnest([1, 2]) u(unnested) where u.unnested = 1 group by k",
		"select string_agg(s, ',' order by id desc), max((select max(z) from b)), max((select max(z) from b where b.k = a.k)) from a",
		"select string_agg(s, ','), max(['a', 'b'][1]) from (select id, s from a order by id desc limit 100)", "select list(n) from (select unnest([7, 8]) as n, id from (select id from a order by id desc limit 1))",
	},
	"limits": {
		"* select id from a order by id limit 1 + 2", "* select id from a order by id limit (select count(*) // 4 from a) offset (select min(id) + 1 from b)", "* select id from a order by id limit null offset 3", "select id, (select b.id from b where b.k = a.k order by b.id limit 2 - 1) from a",
		"* select id from a order by id desc limit 30%", "* select id from a order by x, id limit 12.5 percent offset 2", "* select id from a order by id limit 0%", "* select id from a order by id limit 100%", "* (select id from a) union all (select id from b) order by 1 limit 10%", "select count(*) from (from a limit 50%)",
		"* select k, count(*) from a group by k order by k limit 40 %", "select id from a limit (select null::integer)", "select k from c order by k limit length('abc')",
	},
	"positional joins": {
		"select a.id, b.id, b.z from a positional join b", "* select c.name, a.id from c positional join a", "select * from (from c) x positional join (select id from b where z > 0 order by id) y", "select count(*), count(v) from a positional join e", "select l.id, r.id, c.w from a l positional join b r positional join c where r.id > 3",
	},
	"windows in subqueries": {
		"select id, (select sum(p.x) over (order by p.id) from a p where p.k = a.k order by p.id desc limit 1) from a", "select a.id, q.n from a, lateral (select b.id, row_number() over (order by b.id) as n from b where b.k = a.k) q", "select a.id, q.n from a, lateral (select s, rank() over (order by count(*), s) as n from b where b.k = a.k group by s) q",
		"select a.id, q.n from a, lateral (select lag(b.id, 1, -1) over (order by b.id) as n from b where b.k < a.k) q", "select id from a where exists (select 1 from b where b.k = a.k qualify row_number() over (order by b.id) = 2)",
	},
	"rows of values": {
		"select id, (x, s) = (k, s), (x, s) <> (k, 'a'), (x, s) < (k, s), (x, s) >= (k, null), (null, x) = (null, x) from a", "select id from a where (k, s) in ((1, 'a'), (2, null), (k, 'Oslo'))",
		"select id from a where (k, s) in (select k, s from b)", "select id from a where (k, id) in (select k, id from b where z > 0)", "select a.id, b.id from a join b on (a.k, a.id) = (b.k, b.id)",
		"select id from a where (k, id) = any (select k, id from b where z > 0)", "select id, (id, 1) <> all (select id, 1 from b), (id, 2) < any (select 7, 3), (id, 2) >= all (select id + 100, 3 from b where id < 7) from a where id <> 7",
		"select id, (id, 1) > any (select 7, 2), (k, id) = all (select 1, 3), (id, 1) <> any (select id, 1 from b) from a where k is not null and id <> 7",
		"select (1, 2) <> any (select * from (values (1, null)) t(x, y)), (1, 2) <> any (select 1, 2 where false)", "select id, (k, x) <> any (select k, id from b) from a where k is not null and x is not null",
		"select id from a where (k, s) = (x, s) and f", "select id, (id, k) in (select id, k from b where k is not null) from a where k is not null",
	},
	"functions of the catalog": {
		"select id, right(s, 2), right(s, 0), lpad(s, 3, '*'), rpad(s, 3, '-'), split_part(s, 'b', 1), split_part(s, 'l', 2), concat_ws('-', s, x, d), concat_ws('-', null, s), regexp_extract(s, '[a-z]+'), regexp_extract(s, '(.)(.)', 2) from a",
		"select add(x, 1), hex(s), split(s, 'l'), string_split(s, 'b'), list_count(string_split(s, 'l')), list_sort(string_split(s, 's')), xor(x, 5), pi(), radians(y), degrees(y) from a",
		"select k, kurtosis(x), kurtosis_pop(x), skewness(x), kurtosis_pop(k), skewness(y) from a group by k", "select isinf(v), isfinite(v), isnan(v), round(v, -1), round(v, 1) from b",
		"select id, make_date(year(d), month(d), 1), date_diff('hour', d, timestamp '2020-02-29 01:30:00'), date_diff('minute', d, date '2020-03-01') from a where d is not null",
		"select id, date_diff('second', t, timestamp '2020-03-01 00:00:00'), date_diff('millisecond', t, t + interval 1 hour) from b", "select strptime(strftime(d, '%d.%m.%Y'), '%d.%m.%Y') from a",
		"select s[1], s[-1], s[0], s[2:3] from a", "select try_cast('x' as integer), try_cast('2020-13-01' as date), try_cast('1e3' as double), try_cast(s as integer) from a", "select null - d, d - null from a",
		"select mod(x, 3), power(x, 2), sin(x), cos(x), ceiling(y), weekday(d), weekofyear(d), ends_with(s, 'o'), instr(s, 'e'), char_length(s), character_length(s) from a",
		"select id, tan(x), asin(greatest(least(y / 1000, 1), -1)), acos(greatest(least(y / 1000, 1), -1)), atan(y), atan2(y, x), sinh(y / 100), cosh(y / 100), tanh(y / 100), asinh(y), acosh(abs(y) + 1), atanh(greatest(least(y / 1000, 1), -1)), log2(abs(y) + 1), cbrt(y), degrees(y), radians(y) from a",
		"select id, bit_count(x), bit_count(id), bit_count(null::integer), tan(null), atan2(null, 1), atan2(y, null), log2(m + 1000), cbrt(x) from a",
		"select list_slice(l, 2, 3), list_sum(l), list_min(l), list_max(l) from (select list(x order by id) as l from a group by k)", "select k, mean(x), variance(x), stddev_samp(x), first(id order by id), last(id order by id), array_agg(id order by id) from a group by k",
		"select position('b' in null), strpos(null, 'a')", "select x + interval '1' day from (select d as x from a)", "select d + interval (y) day from a", "select base64(unhex('616263'))",
	},
	"lists that are written": {
		"select [1, 2, null], ['a', 'b'], [1.5, 2], [date '2020-01-01'], [true], []", "select array(select id from b order by z, id desc), array(select id from b where false), len(array(select k from b))", "select id, list_contains([1, x, null], k), x in [1, 2, null], list_contains(['a'], s), list_has([x, 2], k), array_has(['a'], s), list_has([1, 2], null) from a", "select k, list_has(list(x order by id), 1), array_has(list(s order by id), 'a') from a group by k", "select count(*) from a where k in [1, 2]",
		"select id from a where len([1, 2]) = 2 and k > 0", "select list_sort([3, 1, null, 2]), [3, 4][1], [1, 2, 3][2:]", "select id, len([1, 2, 3]) from a where id < 3",
	},
	"structs": {
		"select {'p': x, 'q': k}.q, {'a': k, 'b': x}.b, {'b': null}.b is null from a", "select t.v.q, t.v.p from (select {'p': x, 'q': s} as v from a) t",
	},
	"sets of subqueries": {
		"select (select min(1) from b t17 where t17.s in (select t2.s from b t18 where t18.z = t17.z union all select name from c)) from b t2",
		"select null as p intersect all select null union by name (select 'a' as p)",
	},
	"windows": {
		"select id, row_number() over (order by id) from a", "select id, rank() over (partition by k order by x), dense_rank() over (partition by k order by x) from a",
		"select id, sum(x) over (partition by k) from a", "select id, sum(x) over (order by id) from a", "select id, sum(x) over (order by x) from a", "select id, count(*) over (partition by f order by s) from a",
		"select id, sum(x) over (order by id rows between 1 preceding and 1 following) from a", "select id, avg(y) over (partition by k order by id rows between unbounded preceding and current row) from a",
		"select id, lag(x) over (order by id), lead(x, 2) over (order by id), first_value(x) over (partition by k order by id), last_value(x) over (partition by k order by id) from a",
		"select id, x from a qualify row_number() over (partition by k order by id) = 1", "select id, sum(x) over w, count(*) over w from a window w as (partition by k)",
		"select id, percent_rank() over (order by x), cume_dist() over (order by x), ntile(3) over (order by id) from a", "select k, sum(x), rank() over (order by sum(x)) from a group by k", "select k, sum(sum(x)) over () from a group by k",
		"select id, x - avg(x) over (partition by k) from a", "select id, min(x) over (order by id range between unbounded preceding and current row), max(x) over (order by x, f) from a", "select id, count(x) over (order by x groups between 1 preceding and 1 following) from a",
		"select id, last_value(x ignore nulls) over (order by id) from a", "* select id from a order by row_number() over (order by id desc)", "select id, nth_value(x, 2) over (order by id rows between unbounded preceding and unbounded following) from a",
		"select id, sum(x) filter (where f) over (partition by k) from a", "select id, max(d) over (partition by f), count(distinct id) from a group by id, d, f", "select id, sum(x) over (order by x desc) from a", "select id, sum(x) over (order by x nulls first) from a",
		"select id, row_number() over (partition by k order by x, id) as r from a qualify r <= 2", "select * from (select id, row_number() over (order by id) as r from a) where r between 2 and 4", "select id, sum(m) over (order by id) from a", "select id, sum(x) over (order by id rows between 2 preceding and 1 preceding) from a",
	},
}

// textCasts are conversions of literals.
func textCasts() (list []string) {
	for to, texts := range map[string]string{
		"integer": "1.5|2.5|-2.5|0.5|-0.5|0.49999999999999999999|1e3|1.5e1|1e-1|1e-400|1e400| 12 |+5|-7|1_000|0x10|0b11|010||.|1e|.5|5.|x|0x1p3|nan|inf",
		"bigint":  "9223372036854775807|9223372036854775807.4|9223372036854775807.5|9223372036854775808|-9223372036854775808|1e18|1e19",
		"date":    "2024-01-01 10:00:00|2024-01-01 |2024-01-01T10:00:00|2024-01-01 x|2024-01-01 25:00:00|2024-1-1|2024/01/01|20240101|2024-02-30|2024-01-01x|x",
		"double":  "0x1p3|0x10|1_0.5|inf|Infinity|-inf|nan|1e400|-1e400|1e-400|.5|5.|+1.5| 1 |x|", "decimal(10,2)": "1e3|1.555|-0.005|0x10|x|nan",
		"boolean": "t|f|1|0|yes|no|y|n|T|TRUE|False|on|off|x", "timestamp": "2024-01-01|2024-01-01 10:00:00|2024/01/01 10:00:00|x",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			list = append(list, fmt.Sprintf("select try_cast('%s' as %s)", text, to))
		}
	}
	return append(list, "select id from a where x = '1.5'", "select id from a where d = '2020-01-31 10:00:00'", "select make_date(300000, 1, 31), make_date(-5000, 12, 1), make_date(5799999, 12, 31), make_date(-5799999, 1, 1)")
}

// longLists are conditions with more literals than IN compares with one by one.
func longLists() (list []string) {
	numbers, days, texts := make([]string, 200), make([]string, 200), make([]string, 200)
	for i := range numbers {
		numbers[i], days[i], texts[i] = fmt.Sprint(i*3-30), fmt.Sprintf("'20%02d-01-%02d'", i/20+15, i%20+12), fmt.Sprintf("'%c'", rune('a'+i%5))
	}
	for _, c := range []string{"x", "id", "k + 1", "y", "m", "s", "d", "a.k"} {
		for values, kind := range map[string]string{strings.Join(numbers, ", "): "xikyma", strings.Join(texts, ", "): "s", strings.Join(days, ", "): "d"} {
			if strings.Contains(kind, c[:1]) {
				list = append(list, fmt.Sprintf("select id from a where %s in (%s)", c, values), fmt.Sprintf("select id from a where %s not in (%s) and f", c, values),
					fmt.Sprintf("select id from a where %s not in (%s, null)", c, values), fmt.Sprintf("select id from a where %s in (%s, null)", c, values))
			}
		}
	}
	values := strings.Join(numbers, ", ")
	return append(list, fmt.Sprintf("select a.id, b.id from a, b where a.k = b.k and b.z in (%s) and a.id not in (%[1]s)", values), fmt.Sprintf("select id from a where exists (select 1 from b where b.k in (%s) and b.k = a.k and a.x in (%[1]s))", values),
		fmt.Sprintf("select id, x in (%s) from a", values), fmt.Sprintf("select id from a where x in (%s, k)", values), fmt.Sprintf("select k from a group by k having sum(x) in (%s)", values))
}

// TestNamesOfTheCatalog requires that a statement compares each function of the catalog whose name DuckDB has too: such a function
// is one of SQL as soon as the catalog has it, and DuckDB's may mean something else.
func TestNamesOfTheCatalog(t *testing.T) {
	names, err := open(t, 1).theirs("select distinct function_name from duckdb_functions()")
	require.NoError(t, err)
	texts := strings.ToLower(fmt.Sprint(statements))
	var missing []string
	for _, f := range catalog.All() {
		if f.Kind != catalog.Elementwise && f.Kind != catalog.Aggregated {
			continue
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			isTheirs := slices.ContainsFunc(names, func(row []string) bool { return row[0] == name })
			if isTheirs && !refusedNames[name] && !strings.Contains(texts, name+"(") {
				missing = append(missing, name)
			}
		}
	}
	require.Empty(t, missing, "add statements to compare")
}

// refusedNames are functions of DuckDB that mean something else in the catalog, or have no such operands, and are refused.
var refusedNames = map[string]bool{"bit_and": true, "bit_or": true, "bit_xor": true, "quantile": true, "product": true, "to_base64": true, "octet_length": true, "hash": true, "json_type": true}

// TestStatements compares the answers to statements with those of DuckDB.
func TestStatements(t *testing.T) {
	p := open(t, 1)
	statements["long lists"] = longLists()
	for class, list := range statements {
		t.Run(class, func(t *testing.T) {
			for _, text := range list {
				ordered := text[0] == '*'
				if ordered {
					text = text[2:]
				}
				difference, err := p.difference(t.Context(), text, ordered)
				if err != nil {
					t.Errorf("%s\n%v", text, err)
				} else if difference != "" {
					t.Errorf("%s\n%s", text, difference)
				}
			}
		})
	}
	require.Zero(t, p.engine.Manager().Stats().InUse)
}
