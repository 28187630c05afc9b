-- Wrong statements. Each begins with a line with its class, the place of the fault (line and column in characters
-- from 1, of the text behind that line), and the message.
-- class: misspelt keyword at 1:1: unexpected “selec”: did you mean SELECT?
selec a from t
-- class: misspelt keyword at 1:1: unexpected “selct”: did you mean SELECT?
selct distinct a from t
-- class: misspelt keyword at 1:10: “fron” is no keyword: did you mean FROM?
select a fron t
-- class: misspelt keyword at 1:17: “form” is no keyword: did you mean FROM?
select a, b + 1 form t
-- class: misspelt keyword at 1:17: “whree” is no keyword: did you mean WHERE?
select a from t whree a > 1
-- class: misspelt keyword at 1:19: unexpected “were”: did you mean WHERE?
select a from t u were a > 1
-- class: misspelt keyword at 1:17: “gruop” is no keyword: did you mean GROUP?
select a from t gruop by a
-- class: misspelt keyword at 1:25: unexpected “grop”: did you mean GROUP?
select a from t where b grop by a
-- class: misspelt keyword at 1:23: unexpected “yb”: did you mean BY?
select a from t order yb a
-- class: misspelt keyword at 1:25: unexpected “ordr”: did you mean ORDER?
select a from t where b ordr by a
-- class: misspelt keyword at 1:17: “lmit” is no keyword: did you mean LIMIT?
select a from t lmit 3
-- class: misspelt keyword at 1:17: “jion” is no keyword: did you mean JOIN?
select a from t jion u on a = b
-- class: misspelt keyword at 1:22: unexpected “jon”: did you mean JOIN?
select a from t left jon u on a = b
-- class: misspelt keyword at 1:24: “onn” is no keyword: did you mean ON?
select a from t join u onn a = b
-- class: misspelt keyword at 1:20: unexpected “than”: did you mean THEN?
select case when a than b end
-- class: misspelt keyword at 1:17: unexpected “a”: expected WHEN
select case wen a then b end
-- class: misspelt keyword at 1:17: “unoin” is no keyword: did you mean UNION?
select a from t unoin select b from u
-- class: misspelt keyword at 1:1: unexpected “wiht”: did you mean WITH?
wiht a as (select 1) select * from a
-- class: misspelt keyword at 1:19: “partitoin” is no keyword: did you mean PARTITION?
select f(a) over (partitoin by b)
-- class: misspelt keyword at 1:28: unexpected “decs”: did you mean DESC?
select a from t order by a decs
-- class: misspelt keyword at 1:1: unexpected “creat”: did you mean CREATE?
creat table t as select 1
-- class: misspelt keyword at 1:1: unexpected “exlpain”: did you mean EXPLAIN?
exlpain select 1
-- class: missing item at 1:7: unexpected end of the text: expected an expression
select
-- class: missing item at 1:8: SELECT has no items before FROM: write * for all columns
select from t
-- class: missing item at 1:15: unexpected end of the text: expected a table
select a, from
-- class: missing item at 1:14: unexpected end of the text: expected a table
select a from
-- class: missing item at 1:22: unexpected end of the text: expected an expression
select a from t where
-- class: missing item at 1:23: the parenthesis is not closed: expected an expression or a query, and )
select a from t where (
-- class: missing item at 1:29: unexpected “)”: expected an expression
select a from t where a in ()
-- class: missing item at 1:27: unexpected keyword OR: expected an expression
select a from t where a = or b
-- class: missing item at 1:23: unexpected keyword AND: expected an expression
select a from t where and b
-- class: missing item at 1:23: unexpected “a”: expected BY
select a from t group a
-- class: missing item at 1:25: unexpected end of the text: expected an expression
select a from t group by
-- class: missing item at 1:22: unexpected end of the text: expected an expression
select a from t limit
-- class: missing item at 1:12: unexpected keyword FROM: expected an expression
select a + from t
-- class: missing item at 1:10: unexpected “,”: expected an expression
select f(, a) from t
-- class: missing item at 1:13: unexpected keyword END: expected an expression
select case end
-- class: missing item at 1:15: unexpected keyword ELSE: expected WHEN
select case a else b end
-- class: missing item at 1:20: unexpected keyword OR: expected AND
select a between 1 or 2
-- class: missing item at 1:15: unexpected “int”: expected AS
select cast(a int)
-- class: missing item at 1:12: unexpected keyword FROM: expected a type
select a:: from t
-- class: missing item at 1:9: unexpected keyword SELECT: expected the name of a column
with a (select 1) select * from a
-- class: missing item at 1:11: unexpected keyword SELECT: expected MATERIALIZED, NOT or “(”
with a as select 1
-- class: missing item at 1:1: INSERT is not supported: write CREATE TABLE name AS with UNION ALL of the old and the new rows
insert
-- class: missing item at 1:10: unexpected end of the text: expected a name or *
select a.
-- class: missing item at 1:18: unexpected keyword FROM: expected the name of a column
select * exclude from t
-- class: missing item at 1:23: unexpected end of the text: expected ON or USING with the condition of the join
select a from t join u
-- class: missing item at 1:24: unexpected keyword WHERE: expected ON or USING with the condition of the join
select a from t join u where b
-- class: missing item at 1:25: unexpected “u”: expected LEFT, RIGHT, FULL, INNER, SEMI, ANTI or JOIN
select a from t natural u
-- class: parentheses at 1:21: unexpected keyword FROM: expected “,”, ORDER, IGNORE, RESPECT or “)”
select f(a, (b + c) from t
-- class: parentheses at 1:11: unexpected “)”: expected AS, “,”, FROM, WHERE, GROUP, HAVING, WINDOW, QUALIFY or others
select (a)) from t
-- class: parentheses at 1:34: unexpected keyword ORDER: expected “,” or “)”
select a from t where a in (1, 2 order by a
-- class: parentheses at 1:39: unexpected end of the text: expected GROUP, HAVING, WINDOW, QUALIFY, USING, UNION, EXCEPT, INTERSECT or others
select a from (select b from t where c
-- class: parentheses at 1:14: unexpected keyword FROM: expected “,” or “]”
select [1, 2 from t
-- class: parentheses at 1:16: unexpected keyword FROM: expected “,” or “}”
select {'a': 1 from t
-- class: parentheses at 1:12: unexpected keyword FROM: expected “]” or “:”
select a[1 from t
-- class: unterminated at 1:8: the text has no end: add a quote '
select 'a
-- class: unterminated at 1:8: the name has no end: add a quote "
select "a
-- class: unterminated at 1:8: the text has no end: add $$
select $$a
-- class: unterminated at 1:8: the text has no end: add $x$
select $x$a$$
-- class: unterminated at 1:8: the text has no end: add a quote '
select e'a\'
-- class: unterminated at 1:10: the comment has no end: add */
select 1 /* a /* b */
-- class: unterminated at 1:8: the name "" is empty
select ""
-- class: order of clauses at 1:18: FROM has to stand before WHERE and the clauses behind it
select a where b from t
-- class: order of clauses at 1:28: WHERE has to stand before GROUP BY and the clauses behind it
select a from t group by a where b
-- class: order of clauses at 1:26: GROUP BY has to stand before HAVING and the clauses behind it
select a from t having b group by a
-- class: order of clauses at 1:28: GROUP BY has to stand before ORDER BY, LIMIT and OFFSET
select a from t order by a group by a
-- class: order of clauses at 1:25: ORDER BY has to stand before LIMIT and OFFSET
select a from t limit 1 order by a
-- class: order of clauses at 1:25: WHERE has to stand before ORDER BY, LIMIT and OFFSET
select a from t limit 1 where b
-- class: order of clauses at 1:28: a query with ORDER BY, LIMIT or OFFSET has to stand in parentheses before UNION
select a from t order by a union select b from u
-- class: order of clauses at 1:25: a second WHERE
select a from t where b where c
-- class: keyword as name at 1:16: unexpected keyword SELECT: expected an expression, FROM, WHERE, GROUP, HAVING, WINDOW, QUALIFY, USING or others
select a as b, select from t
-- class: keyword as name at 1:8: unexpected keyword ORDER: expected an expression
select order from t
-- class: keyword as name at 1:15: unexpected keyword TABLE: expected a table
select a from table
-- class: keyword as name at 1:20: unexpected keyword WHERE: expected a name
select a from t as where b
-- class: keyword as name at 1:22: unexpected keyword SELECT: expected a table
select a from t join select on b
-- class: keyword as name at 1:6: unexpected keyword SELECT: expected the name of a query
with select as (select 1) select 1
-- class: operator at 1:14: unexpected “=”: expected parentheses or AND: comparisons have no chains such as a = b = c
select a = b = c
-- class: operator at 1:14: unexpected “<”: expected parentheses or AND: comparisons have no chains such as a = b = c
select a < b < c
-- class: operator at 1:17: unexpected “like”: expected parentheses or AND: comparisons have no chains
select a like b like c
-- class: operator at 1:13: unexpected “b”: expected NOT, NULL, TRUE, FALSE, UNKNOWN or DISTINCT
select a is b
-- class: operator at 1:17: unexpected “b”: expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT
select a is not b
-- class: operator at 1:10: unexpected keyword NOT: expected AS, “,”, FROM, WHERE, GROUP, HAVING, WINDOW, QUALIFY or others
select a not b
-- class: operator at 1:10: EXCEPT needs a query: columns of * are left out with EXCLUDE (…)
select * except (a) from t
-- class: operator at 1:10: GLOB has no NOT behind the text: write NOT (text GLOB pattern)
select a not glob b
-- class: window at 1:25: unexpected “a”: expected BY
select f(a) over (order a)
-- class: window at 1:25: unexpected “)”: expected PRECEDING or FOLLOWING
select f(a) over (rows 1)
-- class: window at 1:43: unexpected “)”: expected AND
select f(a) over (rows between 1 preceding)
-- class: window at 1:24: a frame that starts behind the current row cannot end at it or before it
select f(a) over (rows between 1 following and 1 preceding)
-- class: window at 1:17: unexpected end of the text: expected a window in parentheses, or the name of one
select f(a) over
-- class: window at 1:12: IGNORE NULLS and RESPECT NULLS need a window: add OVER (…)
select f(a ignore nulls)
-- class: limit at 1:24: LIMIT has one number: write LIMIT and OFFSET
select a from t limit 1, 2
-- class: limit at 1:25: the query has two limits
select a from t limit 1 limit 2
-- class: limit at 1:30: unexpected end of the text: expected ROW or ROWS
select a from t fetch first 3
-- class: set operation at 1:15: unexpected end of the text: expected ALL, DISTINCT, BY, SELECT, FROM, VALUES or TABLE
select 1 union
-- class: set operation at 1:20: only UNION has BY NAME
select 1 intersect by name select 2
-- class: set operation at 1:20: unexpected keyword ALL: expected BY, SELECT, FROM, VALUES or TABLE
select 1 union all all select 2
-- class: parameters at 1:11: a statement has parameters with names or with numbers, not both
select ?, $name
-- class: parameters at 1:12: a statement has parameters with names or with numbers, not both
select $1, $name
-- class: statement at 1:1: unexpected “foo”: expected a statement such as SELECT
foo
-- class: statement at 1:10: unexpected keyword SELECT: expected “;” before the next statement
select 1 select 2
-- class: statement at 1:8: unexpected end of the text: expected a statement such as SELECT
explain
-- class: statement at 1:15: unexpected end of the text: expected “.”, “(” or AS
create table t
-- class: statement at 1:8: objects of the kind INDEX are not supported: expected TABLE or VIEW
create index i on t(a)
-- class: statement at 1:10: unexpected end of the text: expected a path in quotes
copy t to
-- class: statement at 1:6: unexpected “t”: expected TABLE or VIEW
drop t
-- class: unicode at 1:39: unexpected keyword AND: expected an expression
select 'größe', ü from "tä" where ü = and
-- class: several lines at 3:1: a second WHERE: the query has one, or a parenthesis before it is not closed
select a from (select b
from t where x in (1, 2)
where y = 3
-- class: several lines at 2:11: unexpected keyword AND: expected an expression
select 'größe 日本語', ü from "tä" where
ä = 1 and and ö = 2
-- class: operator at 1:16: the operator == is not supported without an operand before it
select a where == b from t
-- class: operator at 1:10: the operator == is not supported without an operand behind it
select a == from t
-- class: keyword as name at 1:10: “year” is a keyword here: write AS before it to make it a name
select a year from t
-- class: operator at 1:12: the operator before any has to be a comparison
select a + any (b) from t
-- class: keyword as name at 1:10: “days” is a keyword here: write AS before it
select 1 days
