// Duckdb runs the questions of bench/workloads with gpuframe and with DuckDB, on the same rows and in turns, compares
// the answers, and prints both times.
//
//	go run . -device host -threads 2
//	go run . -rows 5000000                     # on the first GPU
//	go run . -set nested -question tags
//
// Both sides have the tables in memory, and each answer becomes a table; the least time of several counts. The
// ratio is gpuframe's time divided by DuckDB's: below 1 gpuframe is faster. Processor time is that of the whole process, which runs
// one side at a time. Floats may differ by 10⁻⁹ of their value, and everything else may not. A question of which the answers
// differ by definition has a note.
//
// It is a separate module because DuckDB's library has 56 MB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/bench/workloads/internal/runner"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

func main() {
	var f runner.Flags
	f.Register(flag.CommandLine)
	threads := flag.Int("threads", 0, "threads of DuckDB; 0 for all processors")
	flag.Parse()
	if err := run(context.Background(), &f, *threads); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, f *runner.Flags, threads int) (err error) {
	e, err := gpuframe.Open(gpuframe.Device(f.Device))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var failures []error
	for i, set := range f.Chosen() {
		failures = append(failures, runSet(ctx, e, f, set, threads, i == 0))
	}
	return errors.Join(failures...)
}

// runSet prints the table of a set.
func runSet(ctx context.Context, e *gpuframe.Engine, f *runner.Flags, set question.Set, threads int, first bool) (err error) {
	s, err := openSides(ctx, e, set, f.Rows, threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if first {
		version, err := s.peer.Version()
		if err != nil {
			return err
		}
		fmt.Printf("%v; DuckDB %s; %d rows\n", e.Device(), version, f.Rows)
	}
	fmt.Printf("\n%s: %s\n\n", set.Name, set.Title)
	lines := table.New("question", "lines of Go", "clauses of SQL", "rows", "gpuframe ms", "DuckDB ms", "ratio", "processors ms", "DuckDB", "ratio", "equal")
	var total runner.Totals
	var failures []error
	for _, q := range set.Questions {
		total.Questions++
		total.Lines, total.Clauses = total.Lines+s.ours.Lines[q.Name], total.Clauses+q.Clauses()
		rows, err := s.compare(ctx, q)
		if err == nil {
			var p runner.Pair
			if p, err = s.measure(ctx, q, f.Rounds); err == nil {
				total.Add(p)
				lines.Add(cells(q.Name, s.ours.Lines[q.Name], q.Clauses(), rows, p, "yes")...)
				continue
			}
		}
		failures = append(failures, fmt.Errorf("%s: %s: %w", set.Name, q.Name, err))
		lines.Add(q.Name, fmt.Sprint(s.ours.Lines[q.Name]), fmt.Sprint(q.Clauses()), "", "", "", "", "", "", "", "NO")
	}
	lines.Add(cells("all", total.Lines, total.Clauses, 0, total.Pair, fmt.Sprintf("%d of %d", total.Equal, total.Questions))...)
	wall, processors := total.Means()
	lines.Add("geometric mean of ratios", "", "", "", "", "", ratio(wall), "", "", ratio(processors))
	return errors.Join(append(failures, lines.Print(os.Stdout))...)
}

// cells returns a line of the table.
func cells(name string, lines, clauses, rows int, p runner.Pair, equal string) []string {
	number := ""
	if rows > 0 {
		number = fmt.Sprint(rows)
	}
	ms := func(d runner.Cost) (wall, processors string) {
		return fmt.Sprintf("%.2f", runner.Milliseconds(d.Wall)), fmt.Sprintf("%.2f", runner.Milliseconds(d.Processors))
	}
	ourWall, ourProcessors := ms(p.Ours)
	theirWall, theirProcessors := ms(p.Theirs)
	return []string{
		name, fmt.Sprint(lines), fmt.Sprint(clauses), number,
		ourWall, theirWall, ratio(p.Wall()), ourProcessors, theirProcessors, ratio(p.Processors()), equal,
	}
}

func ratio(r float64) string { return fmt.Sprintf("%.2f×", r) }
