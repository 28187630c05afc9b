// Duckdb has DuckDB answer the group-by questions of bench/dbbenchmark, with all processors of
// the machine, for tables in memory with the same distributions. Each answer becomes a
// table, as in DuckDB's own entry of db-benchmark; the fastest of three times is printed.
//
//	go run . -rows 100000000 -k 100
//
// It is a separate module because DuckDB's library has 56 MB.
package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

var questions = []struct{ name, text string }{
	{"q1", "select id1, sum(v1) from x group by id1"},
	{"q2", "select id1, id2, sum(v1) from x group by id1, id2"},
	{"q3", "select id3, sum(v1), avg(v3) from x group by id3"},
	{"q4", "select id4, avg(v1), avg(v2), avg(v3) from x group by id4"},
	{"q5", "select id6, sum(v1), sum(v2), sum(v3) from x group by id6"},
	{"q6", "select id4, id5, quantile_cont(v3, 0.5), stddev(v3) from x group by id4, id5"},
	{"q7", "select id3, max(v1) - min(v2) from x group by id3"},
	{"q8", "select id6, unnest(max(v3, 2)) from x where v3 is not null group by id6"},
	{"q9", "select id2, id4, power(corr(v1, v2), 2) from x group by id2, id4"},
	{"q10", "select id1, id2, id3, id4, id5, id6, sum(v3), count(*) from x group by all"},
}

func main() {
	rows := flag.Int64("rows", 10_000_000, "rows of the table")
	k := flag.Int64("k", 100, "groups of the small keys")
	threads := flag.Int("threads", 0, "threads of DuckDB; 0 for all processors")
	flag.Parse()
	if err := run(*rows, *k, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(rows, k int64, threads int) (err error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // settings belong to a connection
	if threads > 0 {
		if _, err := db.Exec(fmt.Sprintf("set threads=%d", threads)); err != nil {
			return err
		}
	}
	var version string
	if err := db.QueryRow("select version() || ', ' || current_setting('threads') || ' threads'").Scan(&version); err != nil {
		return err
	}
	fmt.Printf("# DuckDB %s, %d rows, K = %d\n", version, rows, k)
	for _, text := range []string{"select setseed(0.42)", fmt.Sprintf(`create table x as select
		printf('id%%03d', 1 + floor(random()*%[2]d)::int) id1,
		printf('id%%03d', 1 + floor(random()*%[2]d)::int) id2,
		printf('id%%010d', 1 + floor(random()*%[3]d)::int) id3,
		(1 + floor(random()*%[2]d))::int id4, (1 + floor(random()*%[2]d))::int id5, (1 + floor(random()*%[3]d))::int id6,
		(1 + floor(random()*5))::int v1, (1 + floor(random()*15))::int v2, round(random()*100, 6) v3
		from range(%[1]d)`, rows, k, max(rows/k, 1))} {
		if _, err := db.Exec(text); err != nil {
			return err
		}
	}
	total := time.Duration(0)
	for _, q := range questions {
		best, err := answer(db, q.text)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		total += best
		fmt.Printf("%-4s %10.3f ms\n", q.name, float64(best.Nanoseconds())/1e6)
	}
	fmt.Printf("all  %10.3f ms\n", float64(total.Nanoseconds())/1e6)
	return nil
}

// answer returns the fastest time of three.
func answer(db *sql.DB, text string) (best time.Duration, err error) {
	best = 1 << 62
	for range 3 {
		if _, err := db.Exec("drop table if exists answer"); err != nil {
			return 0, err
		}
		begin := time.Now()
		if _, err := db.Exec("create table answer as " + text); err != nil {
			return 0, err
		}
		best = min(best, time.Since(begin))
	}
	return best, nil
}
