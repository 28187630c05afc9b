-- Texts that DuckDB refuses or reads in another way, one a line. They are PostgreSQL's.
select a between symmetric b and c
select a not between symmetric b and c
select e'\u00e4'
select e'\U0001F600'
