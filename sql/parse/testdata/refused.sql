-- Texts that are refused, one a line, as DuckDB refuses them.
-- # operators
select a = b = c
select a like b like c
select a between 1 and 2 between 3 and 4
select a not similar to b escape 'x'
select a not glob b
select a + any ([1,2])
select a like any ([1,2])
select a between any ([1]) and 2
select a in 'x'
select a in ()
select (a,)
select (a,b,)
select ()
select 1 is of (int)
-- # operands, calls and types
select a[1].f(x)
select 'x'.upper()
select 'x'.upper().lower()
select 1 .x
select 1[1]
select null[1]
select null.x
select true[1]
(select 1 limit 2) limit 1
(select 1 order by 1) order by 1
with b as (select 2) (with a as (select 1) select * from a)
with b as (select 2) (select 1 limit 1) limit 2
select 1 intersect by name select 2
select 1 order by 1 union select 2
select 1 limit 1 union select 2
select 1 union with a as (select 1) select 2
values ()
select * from values (1)
from t where a select b
from t select a from u
select {}
select {select: 1}
select ()
select (1,)
select a in (b).c
select a in f(x)[1]
select a in [1][1]
select a in null
select a in exists(select 1)
select a in -b
select a in 'a'.upper()
select a in row(1,2)
select f(a, b,)
select f(distinct order by a)
select f(a ignore nulls)
select f(a respect nulls)
select f(a order by b ignore nulls)
select f(a) ignore nulls over ()
select f('a' := 1)
select f(select := 1)
select f(distinct a) within group (order by b)
select f(a order by c) within group (order by b)
select f(a) over (partition by a,)
select f(a) over (rows unbounded following)
select f(a) over (rows 1 following)
select f(a) over (rows between 1 following and 2 preceding)
select f(a) over (rows between current row and 2 preceding)
select f(a) over (rows between current row and unbounded preceding)
select f(a) over (order by all)
select f(a) over (range)
select f(a) over (partition)
select f(a) filter (where b) within group (order by c)
select coalesce()
select nullif(a)
select nullif(a, b, c)
select extract(select from a)
select extract(all from a)
select overlay(a, b, c)
select position(a, b)
select position()
select substring(a, 1, 2,)
select trim()
select cast(a int)
select a::int array[]
select a::struct(a int,)
select a::struct()
select a::struct
select a::struct(int)
select a::map(int)
select a::map
select a::select
select a::between
-- # queries and tables
select 1 'a'
select 1 year
select a: 1 as b
select 'a': 1
select
select from t
select distinct on a b
select s.t.*
select * except (a)
select * except a
select * exclude ()
select * replace (a b)
select * rename (a b)
select * rename (d as e) exclude (a)
select columns('a').b
select columns('a')[1]
select * from a 'b'
select * from b: a c
select * from (a)
select * from ((a))
select * from (a) b
select * from (a, b)
select * from a join b
select * from a join b using c
select * from a inner outer join b on c
select * from a cross join b on c
select * from a natural join b on c
select * from a positional join b on c
select * from a semi join b
select * from lateral a
select * from f(1).g
select * from coalesce(1)
select * from cast(1 as int)
select * from f(1) over ()
select * from rows from (f(1))
select * from a tablesample 10 b
select * from a pivot (sum(b) for c in (select 1))
select * from a pivot (sum(b) for c)
select * from a pivot (sum(b))
select * from a unpivot (b for c in (d) e in (f))
pivot a
unpivot a include nulls on b
unpivot a
select a from t group by rollup ()
select a from t group by grouping sets
select a from t having b group by c
select a from t qualify b window w as ()
select a from t order by a using <
select a from t order by all, a
select a from t order by a,
select a from t limit a percent
select a from t limit $1 percent
select a from t limit 1, 2
select a from t limit 1 limit 2
select a from t fetch first 3 rows
select a from t for update
select a from t for share
select a into b from t
with a as (select 1), select * from a
with a as (insert into b values (1)) select * from a
with select as (select 1) select 1
with a as (describe t) select 1
-- # tokens, conditions and statements
select a # b
select a #> b
select a ? b
select a ?| b
select a ?& b
select #a
select 5..6
select 1.5.5
select 'a' 'b'
select e'\u00'
select e'\xff'
select e'a\'
select u&'abc'
select u&"abc"
select $a$b$b$
select $1$a$1$
select $
select $ 1
select $$
select ? 1
select $a, $1
select $a, ?
select a /* b /* c */ d
select a=>b
select a<b>c
select a: :int
select a:=1
select [a:b]
select a[1:-]
select a[1::3]
select a[::3]
select a[1, 2]
select a[]
select ""
select "a
select 'a
select $a$b
select \
select a\b
select {
select a}
select [
select a]
select a;b
select a,,b
select ,a
select a from t,,u
select a..b
select a.
select .a
select a.1
select a.'b'
select a.b.
select a.*.b
select f(a) 'x'
select f() 'x'
select date '2020'.x
select date '2020'[1]
select timestamp(1)
select int(1)
select interval a days
select interval '1' year '2'
select interval 1.5 days
select interval -1 day
select interval '1-2' year to month
select interval '1' day to second
select interval (3) '1'
select case end
select case a end
select case when a end
select case when a then b
select case when a then b else end
select case a when b then c end case
select a < b < c
select a < b = c
select a between not b and c
select a between b is null and c
select a between b and c between d and e
select a is b
select a is distinct from b is null
select a is distinct from b is distinct from c
select a at b
select a = any(b, c)
select a = any b
select a || any(b)
select any(a)
select some(a)
select (a, b, c) overlaps (d, e)
select (a, b) overlaps c
select a overlaps b
select f(lambda (x) : x)
select f(lambda (x, y) : x)
select lambda x
select [x for x in y if x for z in w]
select [x for x in a + b if c]
select [x, y for x in z]
summarize
explain explain select 1
explain
explain t
create or replace table if not exists t as select 1
create table t as
create table t
create table as select 1
create table t as describe u
create view v
drop table t, u
drop table
copy t to 'x.csv' with format csv
copy (select 1) to 'x' ()
copy select 1 to 'x'
copy (describe t) to 'x'
foo
foo bar
(
)
select (1
select 1)
select (1))
select f(1
select f(1))
select f(a) over (rows between not a preceding and b following)
select * from a using sample select(10)
