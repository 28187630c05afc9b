package duckdb

import "fmt"

func init() {
	var list []string
	for _, frame := range []string{
		"rows between unbounded preceding and unbounded following", "rows between 2 preceding and 1 following", "rows between unbounded preceding and current row", "rows between 1 following and 3 following",
		"groups between 1 preceding and 1 following", "groups between current row and unbounded following", "groups between 2 preceding and 1 preceding", "range between unbounded preceding and current row",
		"range between current row and current row", "range between unbounded preceding and unbounded following",
	} {
		for _, exclusion := range []string{"current row", "group", "ties", "no others"} {
			if exclusion != "current row" && exclusion != "no others" && (frame[:6] == "rows b") && frame[13:15] != "un" {
				continue // refused
			}
			over := fmt.Sprintf("over (partition by f order by k %s exclude %s)", frame, exclusion)
			total := fmt.Sprintf("over (partition by f order by k, id %s exclude %s)", frame, exclusion)
			if frame[0] == 'r' && frame[1] == 'o' && frame[13:] != "unbounded preceding and unbounded following" {
				over = total
			}
			list = append(list,
				fmt.Sprintf("select id, count(*) %[1]s, count(x) %[1]s, sum(x) %[1]s, avg(x) %[1]s, min(x) %[1]s, max(y) %[1]s, bool_and(x > 1) %[1]s, bool_or(x > 3) %[1]s, sum(m) %[1]s, max(s) %[1]s, count(*) filter (where x > 1) %[1]s from a", over),
				fmt.Sprintf("select id, first_value(x) %[1]s, last_value(x) %[1]s, first_value(x ignore nulls) %[1]s, last_value(s ignore nulls) %[1]s, sum(y) %[1]s, min(d) %[1]s from a", total))
		}
	}
	statements["frames with exclusions"] = append(list,
		"select id, count_if(x > 1) over (order by id rows between 2 preceding and 1 following exclude current row), countif(f) over (order by k groups between 1 preceding and 1 following exclude ties), count_if(f) over (partition by k order by id rows between 1 following and 2 following exclude current row) from a",
		"select id, count(*) over (partition by f range between unbounded preceding and unbounded following exclude current row), sum(x) over (rows between unbounded preceding and unbounded following exclude group) from a",
		"select id, sum(x) over w, rank() over w from a window w as (order by k groups between 1 preceding and current row exclude ties)",
		"select k, sum(count(*)) over (order by k rows between unbounded preceding and unbounded following exclude current row) from a group by k",
		"select id, count(*) over (order by x desc nulls first range between unbounded preceding and current row exclude group), min(t) over (order by z groups between 1 preceding and 1 following exclude ties) from (select a.id, x, t, z from a join b using (id))")
	var gathered []string
	for _, frame := range []string{"rows between 2 preceding and current row", "rows between 1 following and 3 following", "range between 1 preceding and current row", "groups between current row and 1 following", "rows between unbounded preceding and 1 preceding"} {
		w := "over (partition by f order by k, id " + frame + ")"
		if frame[0] != 'r' || frame[1] != 'o' {
			w = "over (partition by f order by k " + frame + ")"
		}
		total := "over (partition by f order by k, id rows between 2 preceding and 1 following)"
		gathered = append(gathered,
			fmt.Sprintf("select id, list_sort(list(x) %[1]s), list_sort(list(s) %[1]s), string_agg(s, '-') filter (where f) %[2]s, len(string_agg(s, '-') %[1]s), skewness(x) %[1]s, kurtosis(x) %[1]s, kurtosis_pop(y) %[1]s from a", w, total),
			fmt.Sprintf("select id, mad(x) %[1]s, entropy(s) %[1]s, median(x) %[1]s from a", w))
	}
	statements["aggregates of gathered frames"] = append(gathered, "select id, list(x) over (order by id), list(x) over (partition by f), string_agg(s, '-') over (order by id), list_sort(list(s) over (order by k)) from a")
	statements["frames without rows"] = []string{
		"select id, sum(x) over w, count(x) over w, avg(x) over w, min(s) over w, bool_and(f) over w, any_value(x) over w, first_value(x) over w, last_value(x ignore nulls) over w, nth_value(x, 2) over w, count_if(x > 1) over w, approx_count_distinct(x) over w from a window w as (partition by k order by id rows between 3 following and 1 following)",
		"select id, count(x) over w, sum(m) over w, max(d) over w, median(x) over w, row_number() over w, lag(x) over w, count(x) filter (where f) over w from a window w as (order by id rows between 1 preceding and 3 preceding)",
		"select id, count(x) over w, sum(x) over w, first_value(x) over w, bool_or(f) over w from a window w as (order by id rows between 3 following and 1 following exclude current row)",
		"select id, sum(x) over w, max(s) over w, count(x) over w from a window w as (order by k groups between 3 following and 1 following exclude ties)",
		"select id, count(x) over (order by k groups between 1 preceding and 2 preceding), max(x) over (order by k range between 3 following and 1 following) from a",
		"select k, count(sum(x)) over (order by k rows between 3 following and 2 following), coalesce(sum(count(*)) over (order by k rows between 3 following and 2 following), 5) from a group by k",
		"select id from a qualify count(x) over (order by id rows between 3 following and 1 following) = 0", "* select id from a order by sum(x) over (order by id rows between 3 following and 1 following), id",
		"select id, count_if(x > 1) over (order by id rows between 2 preceding and 1 following), countif(f) over (partition by k), count_if(x > 1) filter (where f) over (order by id rows between 2 preceding and 1 following exclude current row), count_if(f) over (partition by k order by id rows between 1 following and 2 following), count_if(f) filter (where x > 2) over (partition by k) from a",
		"select k, countif(f), countif(x > 1) filter (where true) from a group by k", "select k, count_if(count(*) > 1) over () from a group by k",
	}
}
