-- Statements that are accepted, one a line. The tests of sql/duckdb compare their meaning with DuckDB.
-- # operators
select a -> b ->> c = d
select a -> b = c
select x -> x > 1
select f(x -> x > 1)
select f(x -> x or y)
select a or b -> c
select a = b -> c
select a + b -> c
select a ->> b = c
select a = b ->> c
select a ->> b + c
select not a -> b
select not a ->> b
select a || b -> c
select a || b ->> c
select -a ^ b
select a ^ b ^ c
select a ** b * c
select - a :: int
select -1 ^ 2
select -1::varchar
select -a[1]
select a || b + c
select a + b || c
select not a = b
select not a is null
select a < b is null
select a is null = b
select a = b is null
select a is null is null
select a is not null and b
select a between b and c = d
select a between b = c and d
select a between b and c and d
select a = b between c and d
select a in (b) = c
select a like b || c
select a like b = c
select a = b like c
select a in (1) in (2)
select a ! 
select a !~ b
select a ~~ b
select a // b * c
select a at time zone b at time zone c
select a + b at time zone c
select -a at time zone b
select -a collate nocase
select a || b collate nocase
select a::int::text
select a not null
select a isnull
select a notnull is null
select a is distinct from b and c
select a is distinct from b = c
select a = b is distinct from c
select @a + b
select ~a + b
select - - a
select + a
select -a.b
select !a
select a == b
select a != b
select a is not distinct from b or c
select a not between b and c
select not a between b and c
select a not like b escape c
select a like b escape c = d
select a like b escape c || d
select a similar to b
select a glob b
select a ~ b
select a ~* b
select a @> b
select a <@ b
select a ^@ b
select a && b
select a <-> b
select a << b + c
select a & b | c
select a operator(+) b * c
select lambda x : x + 1
select lambda x, y : x = y
select x -> y -> z
select (x, y) -> z
select x -> not y
select x -> y or z
select x -> y is null
select a = any (select 1)
select a = any ([1,2])
select a in b
select a in b + c
select a in b.c
select a in [1,2]
select a in f(x)
select a not in b
select a in b[1]
select a in (b)
select a in (b,)
select (a,b)
select row(a)
select row(a,)
select row()
select (a,b) overlaps (c,d)
-- # operands, calls and types
select a.b[1].c
select a[1].b
select a[1][2]
select a[1].b.c[2]
select a.f(x).g(y)
select a.b.f(x)
select f(x).y
select f(x)[1].y
select f(x).y(1)
select (a).b
select (a).b.c
select (a.b).c
select (a + b).c
select case when a then b end.x
select [1].x
select {'a': 1}.a
select map {1: 2}[1]
select 1.x
select (1)[1]
select $1[1]
select ?.x
select (select 1).x
select (select 1)[1]
select (select 1) + 2
select ((select 1) + 2)
select ((select 1))
select (((select 1)) + 2)
select ((select 1) union select 2)
select ((select 1) limit 1)
select (((select 1) order by 1) union (select 2))
(select 1)
((select 1))
((select 1) union (select 2))
((select 1 limit 1))
(select 1 order by 1) limit 1
(select 1 offset 1) limit 1
(select 1 limit 2) order by 1
(with a as (select 1) select * from a) limit 1
with b as (select 2) (select 1)
with b as (select 2) (select 1 limit 1)
select 1 union select 2 intersect select 3
select 1 union (select 2 union select 3)
select 1 except select 2 union all select 3
select 1 intersect select 2 intersect select 3
select 1 union distinct select 2
select 1 union all by name select 2
select 1 union by name select 2
select 1 union select 2 order by 1 limit 3
(select 1 limit 1) union select 2
select 1 union (select 2 limit 1)
values (1)
values (1), (2)
values (1), (2),
values (1,), (2)
select values from t
select * from (values (1)) t
select * from values (1) t
select * from values (1), (2) as t(a), u
select * from values (1), u
table t
table t union table u
table a.b.c
from t
from t select a
from t select distinct a
from t, u where a
from t limit 1
(from t)
select * from (from t)
select (from t)
select a in (from t)
select exists (from t)
select exists(values (1))
select not exists (select 1)
select exists ((select 1))
select array(select 1)
select array (select 1)
select array(select 1)[1]
select array[1][1]
select [1,]
select [1,2,]
select []
select {'a': 1,}
select {a: 1}
select {"a": 1, 'b': 2, c: 3}
select {year: 1}
select map {}
select map {1: 2,}
select map {'a': 1, 'b': 2}
select map([1],[2])
select map()
select map {a: b + c}
select row()
select row(1,)
select (1,2)
select ((1,2))
select ((1,2),3)
select ((1,2) = (3,4))
select (1,2) = (3,4)
select (1,2) in ((1,2),(3,4))
select (1,2) in (select 1,2)
select ((1,2))[1]
select (1,2)[1]
select (1,2).x
select a in (1,)
select a in ((select 1))
select a in ((select 1), 2)
select a in ((select 1) + 2)
select a in ((select 1) union select 2)
select a in (((select 1)))
select a in ((1))
select a not in (1,2)
select a in $1
select a in ?
select a in array[1]
select a in case when a then b end
select a in b.c[1].d
select a in map {1:2}
select a in {'a': 1}
select a in cast(b as int[])
select a in (b + c) + d
select count(*)
select count()
select count(distinct a)
select count(distinct *)
select count(all a)
select count(* exclude (a))
select count(t.*)
select count(*, 1)
select f(distinct a, b)
select f(a order by b)
select f(a order by b desc nulls last, c)
select f(order by a)
select f(a := 1, b => 2)
select f(a = 1)
select f("a" := 1)
select f(left := 1)
select f(year := 1)
select f(a) filter (where b)
select f(a) filter (b)
select f(a) over ()
select f(a) over (partition by a, b order by c rows between 1 preceding and 2 following)
select f(a) over (rows 1 preceding)
select f(a) over (rows unbounded preceding)
select f(a) over (rows current row)
select f(a) over (range between a + 1 preceding and interval 1 day following exclude no others)
select f(a) over (groups between unbounded preceding and unbounded following exclude ties)
select f(a) over (rows between 3 preceding and 1 preceding exclude group)
select f(a) over (rows between 3 preceding and 1 preceding exclude current row)
select f(a) over (rows between unbounded preceding and a preceding)
select f(a) over w from t window w as (order by b), v as (w)
select a.f(x) over ()
select coalesce(a, b)
select coalesce(a,)
select nullif(a, b)
select grouping(a, b)
select grouping_id(a)
select grouping(a) + 1
select extract(year from a)
select extract('year' from a)
select extract("year" from a)
select extract(years from a)
select extract(epoch from a)
select extract(foo from a)
select extract(hour from a + b)
select extract(date from a)
select extract(millennia from a)
select overlay(a placing b from c for d)
select overlay(a placing b from c)
select position(a in b)
select position(a + 1 in b || c)
select substring(a from 1 for 2)
select substring(a from 1)
select substring(a for 2)
select substring(a for 2 from 1)
select substring(a, 1, 2)
select substring()
select trim(a)
select trim(both a from b)
select trim(leading from b)
select trim(trailing 'x' from b)
select trim(a from b)
select trim(from b)
select trim(a, b)
select trim(a, b,)
select trim(both b)
select cast(a as int)
select cast(a as integer[])
select try_cast(a as int)
select a::int[3]
select a::int[][3]
select a::int array
select a::int array[3]
select a::varchar(3)
select a::char(3)
select a::character varying(3)
select a::character varying
select a::char varying
select a::national character varying(3)
select a::nchar(3)
select a::bit
select a::bit varying(3)
select a::numeric(3)
select a::numeric(18, 3)
select a::decimal
select a::decimal()
select a::dec(3,1)
select a::float
select a::float(10)
select a::float(30)
select a::double
select a::double precision
select a::real
select a::boolean
select a::smallint
select a::tinyint
select a::hugeint
select a::uuid
select a::timestamp
select a::timestamp(3)
select a::timestamp with time zone
select a::timestamp without time zone
select a::timestamptz
select a::time with time zone
select a::interval
select a::struct(a int, b varchar)
select a::struct(a int, b varchar)[]
select a::row(a int)
select a::map(int, varchar)
select a::union(a int, b varchar)
select a::"my type"
select a::"MyType"
select a::mytype
select a::main.mytype
select a::a.b.mytype
select a::left
select a::year
select a::date::varchar::int + 1
select -a::int
select cast(a as decimal(18,3)) ::int
-- # queries and tables
select 1 a
select 1 as a
select 1 as 'a'
select 1 as select
select 1 as "x y"
select 1 as year
select a b, c d from t
select a: 1
select year: 1
select 1,
select 1, from t
select all 1
select distinct 1, 2
select distinct on (a) b
select distinct on (a, b,) c
select *
select t.*
select *, a
select * exclude a
select * exclude (a)
select * exclude (a, b,)
select * exclude (t.a)
select * exclude t.a
select * exclude 'a'
select * replace (a as b)
select * replace a as b
select * replace (a as b, c as d,)
select * rename (a as b)
select * rename a as b
select * exclude (a) replace (b as c) rename (d as e)
select t.* exclude (a)
select * like 'a'
select * not like 'a'
select * ilike 'a'
select * not ilike 'a'
select * similar to 'a'
select * not similar to 'a'
select * glob 'a'
select * ~ 'a'
select * !~ 'a'
select * like 'a' escape 'b'
select t.* like 'a'
select * exclude (x) like 'a'
select * = 1
select * + 1
select (*)
select (*) like 'a'
select (* like 'a') like 'b'
select columns('a')
select columns(*)
select columns(* like 'a%')
select columns(* exclude (a))
select columns(c -> c like 'a')
select columns(lambda c : c like 'a')
select columns(['a', 'b'])
select columns(t.*)
select t.columns('a')
select t.columns(*)
select *columns('a')
select f(*columns('a'))
select f(* columns(*))
select columns('a') + columns('b')
select columns
select columns(*)::int
select * columns('a')
select * from a
select * from a b
select * from a as b
select * from a as b(c, d)
select * from a b(c, d)
select * from a as 'b'
select * from b: a
select * from 'x.csv'
select * from 'x.csv' t
select * from "x.csv"
select * from e'x.csv'
select * from b: 'x.csv'
select * from b: (select 1)
select * from b: f(1)
select * from b: (a join c on d)
select * from (a join b on c)
select * from (a join b on c) d
select * from (a join b on c) as d(e)
select * from ((a join b on c))
select * from (a join b on c) join d on e
select * from a join (b join c on d) on e
select * from a join b join c on d on e
select * from a join b on c join d on e
select * from a join b using (c)
select * from a join b using (c, d,)
select * from a left join b on c
select * from a left outer join b on c
select * from a right join b on c
select * from a full join b on c
select * from a full outer join b using (c)
select * from a inner join b on c
select * from a cross join b
select * from a cross join b cross join c
select * from a cross join b join c on d
select * from a join b cross join c on d
select * from a natural join b
select * from a natural left join b
select * from a natural semi join b
select * from a join b natural join c on d
select * from a asof join b on c
select * from a asof left join b on c
select * from a asof join b using (c)
select * from a asof semi join b on c
select * from a positional join b
select * from a semi join b on c
select * from a anti join b using (c)
select * from a, b
select * from a, b,
select * from a, b join c on d, e
select * from a, lateral (select b)
select * from a, lateral (select b) c
select * from lateral f(a)
select * from a, lateral f(a) as g(h)
select * from a left join lateral (select 1) b on true
select * from f(1)
select * from f()
select * from f(1) a
select * from f(1) as a(b)
select * from f(a := 1, b = 2, c => 3)
select * from a.f(1)
select * from f(1) with ordinality
select * from f(1) with ordinality as a
select * from range(1, 2) t(i)
select * from unnest([1,2])
select * from unnest([1,2]) as t(x)
select * from left(1)
select * from a *
select * from a tablesample 10
select * from a tablesample 10%
select * from a tablesample 10 percent
select * from a tablesample 10 rows
select * from a tablesample (10 rows)
select * from a tablesample (10%)
select * from a tablesample reservoir(10)
select * from a tablesample reservoir(10 percent) repeatable (7)
select * from a tablesample bernoulli(10 percent)
select * from a tablesample system(10.5 percent)
select * from a tablesample system(10 rows)
select * from a tablesample 10 percent (bernoulli)
select * from a tablesample 10 percent (bernoulli, 42)
select * from a b tablesample 10
select * from (select 1) tablesample 10
select * from a using sample 10
select * from a using sample 10 percent (system, 1)
select * from a using sample reservoir(10 rows) repeatable (1)
select * from a using sample 10 order by b
select * from a where b using sample 10
select * from a join b using (c) using sample 5
select * from a pivot (sum(b) for c in (1, 2))
select * from a pivot (sum(b) for c in (1, 2) group by d)
select * from a pivot (sum(b), count(*) as n for c in ('x' as y, 2) d in (3) group by e, f) as p
select * from a pivot (sum(b) for (c, d) in ((1, 2), (3, 4)))
select * from a pivot (sum(b) for c in myenum)
select * from a pivot (sum(b) for year(c) in (1)) p(q)
select * from a pivot (sum(b) for c.d in (1))
select * from a join b on c pivot (sum(d) for e in (1))
select * from a unpivot (b for c in (d, e))
select * from a unpivot include nulls (b for c in (d, e as f)) as g
select * from a unpivot exclude nulls (b for c in (d))
select * from a unpivot ((b, c) for d in ((e, f), (g, h)))
select * from a unpivot (b for c in (columns(* exclude x)))
select * from a unpivot (b for c in (*))
select * from a unpivot (b for (c) in (d))
pivot a on b
pivot a on b using sum(c)
pivot a on b, c using sum(d), count(*) as n group by e, f
pivot a on b in (1, 2)
pivot a on b in (select 1)
pivot a on b in myenum
pivot a using sum(b)
pivot a group by b
pivot a using sum(b) group by c
pivot a on b || '_' || c using sum(d)
pivot a on b in (1,2), c in ('x' as y) using sum(d)
pivot a on b order by 1 limit 2
pivot a on b group by (c, d)
pivot (select 1 as x) on x
pivot 'a.csv' on b
pivot_wider a on b
pivot a join b using (c) on d
unpivot a on b, c
unpivot a on b, c into name d value e
unpivot a on (b, c) into name d value e, f
unpivot a on (b, c) as x into name d values e, f
unpivot a on b into name d value (e, f)
unpivot a on columns(* exclude b)
unpivot a on * into name x value y
pivot_longer a on b
from (pivot a on b)
with x as (pivot a on b) select * from x
select * from (pivot a on b using sum(c)) p
select * from (unpivot a on b)
select (pivot a on b)
select a from t group by a
select a from t group by a, b,
select a from t group by all
select a from t group by *
select a from t group by (a, b)
select a from t group by (a), ()
select a from t group by ()
select a from t group by row(a, b)
select a from t group by (a, b), c
select a from t group by rollup (a, b)
select a from t group by rollup ((a, b), c)
select a from t group by rollup (a, b,)
select a from t group by cube (a)
select a from t group by rollup
select a from t group by rollup(a), cube(b), c
select a from t group by grouping sets ((a, b), a, ())
select a from t group by grouping sets (rollup (a, b), cube (c), grouping sets ((d), ()))
select a from t group by grouping sets ((a, b),)
select a from t group by 1 + 2, f(a)
select a from t group by a having b
select a from t having b
select a from t where b having c
select a from t window w as () qualify b
select a from t order by a
select a from t order by a asc, b desc, c nulls first, d desc nulls last
select a from t order by all
select a from t order by all desc
select a from t order by all nulls first
select a from t order by *
select a from t order by columns('x')
select a from t limit 1
select a from t limit 1 offset 2
select a from t offset 2 limit 1
select a from t offset 2
select a from t offset 2 rows
select a from t offset 2 row
select a from t limit all
select a from t limit null
select a from t limit 10 percent
select a from t limit 10%
select a from t limit 10 % offset 1
select a from t limit 10 % 3
select a from t limit (10)%
select a from t limit ?%
select a from t limit 1.5 percent
select a from t limit (select 1)
select a from t fetch first 3 rows only
select a from t fetch next row only
select a from t offset 1 rows fetch next 2 rows only
select a from t fetch first (1+2) rows only
select a from t; select b
select a from t;;; select b;
;
with a as (select 1) select * from a
with a(b, c) as (select 1, 2) select * from a
with a(b,) as (select 1) select * from a
with recursive a as (select 1 union all select 2) select * from a
with a as materialized (select 1) select * from a
with a as not materialized (select 1) select * from a
with a as (select 1), b as (select 2) select * from a, b
with a as (values (1)) from a
with a as (with b as (select 1) select * from b) select * from a
with a as ((select 1)) select * from a
with a as (from b) (select 1) union (select 2)
with a as (select 1) values (1)
with a as (select 1) table a
with 'a' as (select 1) select 1
with year as (select 1) select 1
select * from (describe t)
select * from (show tables)
select * from (summarize t)
select * from (describe select 1)
select * from (show all tables)
select (describe t)
(describe t)
from (describe t) x
-- # tokens, conditions and statements
select #1
select # 1
select #1 + #2
select -#1
select `a`
select a ` b
select 1a
select 1 a
select 1.a
select 1e5
select 1e+5
select 1e-5
select 1E5
select 1.e5
select .5
select .5e1
select 5.
select 1_000
select 1__000
select 1_
select _1
select 1_000.5_0
select 1e1_0
select 0x1F
select 0x
select 0b101
select 0b2
select 0o17
select 0o8
select 0x_f
select 00
select 007
select 9223372036854775808
select 123456789012345678901234567890123456789012
select 'a''b'
select ''
select e'a\'b'
select e'a\nb\tc\\d'
select e'\x41\x4'
select e'\101'
select e'\q'
select E'a''b'
select x'ff'
select x'f'
select x''
select X'ff'
select n'abc'
select $$a$$
select $a$b$a$
select $a$b$$c$a$
select $é$a$é$
select $1
select $1a
select $a
select ?
select ?1
select ?a
select ?, ?
select ?, $1
select a -- b
select a /* b */ c
select a /* b /* c */ d */ e
select a */ b
select a --b
select 1--1
select 1 - -1
select 1 -- 1
select 1+-1
select 1*-1
select 1<-1
select 1>-1
select 1=-1
select 1<>-1
select 1!=-1
select a<=b
select a=<b
select a<=>b
select a<->b
select a<@b
select a@>b
select a~-b
select a||-b
select a@-b
select a%-b
select a^-b
select a|-b
select a&-b
select a!-b
select a+*b
select a**b
select a***b
select a//b
select a///b
select a/-b
select a//-b
select a->b
select a->>b
select a->>-b
select a-->b
select a==b
select a===b
select a!==b
select a!!b
select !!a
select a!
select a! from t
select (a!)
select a ! + b
select a ! b ! c
select a ~~ b
select a !~~ b
select a ~~* b
select a !~~* b
select a ~~~ b
select a !~* b
select a ^@ b
select a::int::text
select a :: int
select a[1:2]
select a[:]
select a[1:]
select a[:2]
select a[:2:3]
select a[1:2:3]
select a[1:-:3]
select a[:-:3]
select a[-1]
select a[1:2:]
select a [1]
select a.b . c
select a .b
select "a"."b"
select "a" "b"
select "a""b"
select é
select ÄÖ as ü
select 日本語 from 表
select a$b
select a b
select ☃
select 1;
select 1 ;;
select 'a\b'
select a:b
select a."b"
select a.*
select "*"
select date '2020-01-01'
select DATE'2020-01-01'
select timestamp '2020-01-01'
select timestamp with time zone '2020-01-01'
select timestamp without time zone '2020-01-01'
select timestamp(3) '2020-01-01'
select time '12:00'
select time with time zone '12:00'
select timestamptz '2020'
select int '1'
select integer '1'
select varchar 'a'
select varchar(3) 'a'
select char 'a'
select char(3) 'a'
select character varying 'a'
select character varying(3) 'a'
select national character 'a'
select decimal '1'
select decimal(3,1) '1'
select decimal(3,1,) '1'
select numeric(3) '1'
select double '1'
select double precision '1'
select float '1'
select float(3) '1'
select boolean 'true'
select bit '1'
select bigint '1'
select uuid 'a'
select json '{}'
select blob 'a'
select a 'x'
select f(1) 'x'
select f(1, 2) 'x'
select date'2020'::int
select date '2020' + 1
select date
select date(1)
select timestamp
select time
select int
select interval '1 year'
select interval '1' year
select interval 1 year
select interval (1) year
select interval (a + b) days
select interval 1
select interval '1 year' + a
select interval 1 day + interval 2 hours
select interval
select interval + 1
select interval.a
select interval(1)
select interval '1' foo
select interval 1 quarters
select interval 1 millennia
select interval 1 day::varchar
select a + interval 1 day * 2
select current_date
select current_date()
select current_timestamp
select current_time
select now()
select localtime
select localtimestamp
select user
select current_user
select session_user
select current_schema
select case when a then b end
select case a when b then c else d end
select case when a then b when c then d end
select not not a
select not (a)
select a and not b or c
select a or b and c
select a and b or c and d
select (a or b) and c
select a and (b and c)
select (a and b) and c
select not a and b
select not a = b and c
select - not a
select -a is null
select a + not b
select a = not b
select a = not b = c
select (a < b) < c
select a is null = b is null
select a between 1 and 2 + 3 and b
select a between 1 and 2 or b
select a between 1 and not b
select a between (b and c) and d
select a between b is distinct from c and d
select a not between 1 and 2
select a like b or c
select a like b and c like d
select a like b is null
select a is null like b
select a not in (1) and b
select a in (1) is null
select a is true is false
select a is not true
select a is unknown
select a is not unknown
select a isnull isnull
select a not null and b
select not a not null
select a = b not null
select a and b not null
select a + b not null
select a isnull = b
select a notnull
select a collate b collate c
select a collate b.c
select a || b collate c
select a at time zone 'b' + c
select a at time zone b::text
select a at time zone -b
select -a::int
select -(a)::int
select +-a
select -+a
select - - 1
select -1
select -(1)
select - 1.5
select -'a'
select ~1
select ~ -1
select @ -5
select a ~ b or c
select a || b = c
select a || b || c
select a + b - c
select a - b + c
select a * b / c % d
select a + b * c
select a * b + c
select a ^ b * c
select a * b ^ c
select -a * b
select -a ^ b
select a ^ -b
select a ** b ** c
select a & b | c << d
select a & b + c
select a = any(b)
select a = any(select 1)
select a = any((select 1))
select a = any(values (1))
select a = any(array[1])
select a > all (select 1)
select a >= some (select 1)
select a <> all ([1])
select a = any(select 1) = c
select a = any(select 1) and b
select all(a)
select a operator(=) b
select a operator(=) b = c
select a operator(||) b
select (a, b) overlaps (c, d)
select row(a, b) overlaps row(c, d)
select x -> x + 1
select f(x -> x + 1)
select f((x) -> x + 1)
select f((x, y) -> x + y)
select f(row(x, y) -> x)
select f(x -> y -> x + y)
select f(a.b -> c)
select f('a' -> 'b')
select f(x -> x, y -> y)
select f(lambda x : x + 1)
select f(lambda x, y : x)
select f(lambda x : lambda y : x + y)
select lambda x : x, 1
select a + lambda x : x
select [x for x in y]
select [x + 1 for x in y if x > 1]
select [x for x, i in y]
select [x for x in [1,2]]
select [x for x in (a + b) if c]
select [x for x in a = b]
select [[y for y in x] for x in z]
select default
select default + 1
select a from t where default
select f(default)
describe t
describe select 1
describe
desc t
describe a.b
describe 'x.csv'
describe table t
describe (select 1)
summarize t
summarize select 1
summarize 'x.csv'
show tables
show all tables
show databases
show t
show a.b
show select 1
explain select 1
explain analyze select 1
explain (select 1)
explain create table t as select 1
explain describe t
create table t as select 1
create or replace table t as select 1
create temp table t as select 1
create temporary table t as select 1
create table if not exists t as select 1
create table t(a, b) as select 1, 2
create table t as (select 1)
create table t as from u
create table t as values (1)
create table t as table u
create table t as with a as (select 1) select * from a
create table a.b as select 1
create table t as select 1 with data
create table t as pivot u on v
create view v as select 1
create or replace view v as select 1
create temp view v(a, b) as select 1
create view if not exists v as select 1
create view v as from t
create view v as (select 1)
create view v as values (1)
drop table t
drop table if exists t
drop view v
drop view if exists a.b
drop table t cascade
drop table t restrict
copy t to 'x.csv'
copy t to 'x.csv' (format csv)
copy t to 'x.csv' (format csv, header)
copy t to 'x.csv' (header true, delimiter ',')
copy t to 'x.csv' with (format csv)
copy t(a, b) to 'x.csv'
copy (select 1) to 'x.csv'
copy (select 1) to 'x.csv' (format parquet, partition_by (a, b))
copy (select 1) to 'x' (partition_by a)
copy (select 1) to $1
copy (from t) to 'x'
copy (select 1) to 'x' (format 'csv', a 1, b -1, c (1, 2), d [1], e {'a': 1})
copy t to 'x' (a b.c)
select ((((1))))
-- # operators without a level of their own
select a == b = c
select a = b == c
select a == b like c
select a operator(+)
select a operator(+) from t
select a operator(=) b operator(=) c
select 1 !~ nulls
show
(show)
from (show)
select * from (describe)
