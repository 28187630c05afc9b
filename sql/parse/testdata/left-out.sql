-- Statements of DuckDB that are left out, one a line: the message of the error names the form that is not supported.
select a operator(s.+) b
select operator(-) a
select a = operator(+) b
select treat(a as int)
select collation for (a)
select unpack(columns(*))
select a::interval year
select a::interval day to second
select a::enum('a', 'b')
select a::mytype(1, 'x')
select a::setof int
select b'101'
select "a" 'x'
select a.b 'x'
select f(variadic a)
select f(a) export_state
select * from f(1) as (a int)
select * from f(1) as b(a int)
select * from f(distinct 1)
select * from only a
select * from a at (version => 1)
with recursive a(b) using key (b) as (select 1 union select 2) select * from a
explain (format json) select 1
create table t as select 1 with no data
create table t (a int)
create recursive view v(a) as select 1
create index i on t(a)
create schema s
create macro m(a) as a
create function f(a) as a
create type t as int
create sequence s
drop index i
drop schema s
copy (select 1) to x
copy t from 'x.csv'
copy t to stdout
insert into t values (1)
update t set a = 1
delete from t
merge into t using u on a when matched then delete
alter table t add column a int
truncate t
begin
commit
rollback
set a = 1
reset a
pragma x
use a
attach 'x'
detach x
install x
load x
call f(1)
prepare a as select 1
execute a
deallocate a
vacuum
analyze
checkpoint
export database 'x'
import database 'x'
comment on table t is 'x'
