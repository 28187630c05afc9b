package runner

import (
	"flag"
	"strings"

	"github.com/gpuframe/gpuframe/bench/workloads/features"
	"github.com/gpuframe/gpuframe/bench/workloads/nested"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
	"github.com/gpuframe/gpuframe/bench/workloads/retail"
	"github.com/gpuframe/gpuframe/bench/workloads/series"
)

// Sets are the workloads. ClickBench is another program.
var Sets = []question.Set{retail.Set, series.Set, nested.Set, features.Set}

// Flags are the flags of programs that run the questions.
type Flags struct {
	// Rows is the number of rows of the largest table of each set.
	Rows, Rounds int
	Device       string

	set, question string
}

// Register adds the flags to a set.
func (f *Flags) Register(set *flag.FlagSet) {
	set.IntVar(&f.Rows, "rows", 200_000, "rows of the largest table of each set")
	set.IntVar(&f.Rounds, "rounds", 3, "times that a question runs after the first; the fastest is printed")
	set.StringVar(&f.Device, "device", "", "host or cuda, or cuda:1; empty for the first GPU, or the host")
	set.StringVar(&f.set, "set", "", "retail, series, nested or features; empty for all")
	set.StringVar(&f.question, "question", "", "a part of the names of the questions to run; empty for all")
}

// Chosen returns the sets to run, with the questions to run.
func (f *Flags) Chosen() (chosen []question.Set) {
	for _, s := range Sets {
		if f.set != "" && f.set != s.Name {
			continue
		}
		var questions []question.Question
		for _, q := range s.Questions {
			if strings.Contains(q.Name, f.question) {
				questions = append(questions, q)
			}
		}
		s.Questions = questions
		if len(questions) > 0 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}
