package duckdb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/sql/substrait"
)

// plansVariable names a folder with the packages of substrait-io/consumer-testing: statements, and the plans that
// other engines have written for them. The folder of the project has some of them.
const (
	plansVariable = "SUBSTRAIT_PLANS"
	ownPlans      = "testdata/substrait"
)

// differing are the plans, by their tests and producers, that mean something else than their statements, or have a
// value by another rule: docs/sql.md has the reasons.
var differing = map[string]bool{
	"function/approximation/aggregate/approx_count_distinct.json duckdb": true, "function/arithmetic/aggregate/median.json datafusion": true,
	"function/arithmetic/aggregate/median.json duckdb": true, "function/arithmetic/aggregate/median.json ibis": true,
	"function/arithmetic/scalar/divide.json isthmus": true, "function/arithmetic_decimal/scalar/divide.json duckdb": true,
	"function/comparison/scalar/gt.json ibis": true, "function/comparison/scalar/gte.json ibis": true, "integration/tpch/q01.json isthmus": true,
	"integration/tpch/q13.json duckdb": true, "relation/aggregate/aggregate_with_grouping_set.json duckdb": true,
	"relation/aggregate/aggregate_with_grouping_set.json isthmus": true, "relation/fetch/fetch.json datafusion": true,
	"relation/fetch/fetch_with_offset.json datafusion": true,
}

// TestPlansOfOthers runs plans of DuckDB, DataFusion, Ibis and Isthmus, and the statements that they were made of in
// DuckDB: those of the folder that the variable names, or the twelve that are part of the project.
func TestPlansOfOthers(t *testing.T) {
	folder := cmp.Or(os.Getenv(plansVariable), ownPlans)
	p := openTPCH(t, 0.01)
	counts := map[string]map[string]int{}
	var notes []string
	require.NoError(t, filepath.WalkDir(filepath.Join(folder, "testdata"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" || entry.IsDir() {
			return err
		}
		statement, err := readStatement(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(filepath.Join(folder, "testdata"), path)
		if err != nil {
			return err
		}
		parts := strings.Split(relative, string(filepath.Separator))
		base := strings.TrimSuffix(parts[len(parts)-1], ".json")
		plans, err := filepath.Glob(filepath.Join(folder, "snapshots", "producer", parts[0], parts[1], base+"-*_plan.json"))
		if err != nil {
			return err
		}
		for _, plan := range plans {
			producer := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(plan), base+"-"), "_plan.json")
			if strings.HasPrefix(producer, "validate-") {
				continue
			}
			outcome, note := p.runPlan(t, plan, statement)
			if counts[producer] == nil {
				counts[producer] = map[string]int{}
			}
			counts[producer][outcome]++
			if plan := relative + " " + producer; outcome == "failed" || outcome == "differs" && !differing[plan] {
				t.Errorf("%s %s: %s", plan, outcome, note)
			}
			if note != "" {
				notes = append(notes, fmt.Sprintf("%s: %s %s: %s", outcome, relative, producer, note))
			}
		}
		return nil
	}))
	slices.Sort(notes)
	for _, note := range notes {
		t.Log(note)
	}
	t.Log(counts)
	require.NotEmpty(t, counts)
	if folder == ownPlans {
		equal := map[string]int{"equal": 3}
		require.Equal(t, map[string]map[string]int{"datafusion": equal, "duckdb": equal, "ibis": equal, "isthmus": equal}, counts)
	}
}

// readStatement returns the statement of a test, with names of tables in place of files.
func readStatement(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var test struct {
		SQL struct {
			Query string `json:"query"`
			Path  string `json:"query_path"`
		} `json:"sql_query"`
	}
	if err := json.Unmarshal(data, &test); err != nil {
		return "", err
	}
	if test.SQL.Path != "" {
		if data, err = os.ReadFile(filepath.Join(filepath.Dir(path), test.SQL.Path)); err != nil {
			return "", err
		}
		test.SQL.Query = string(data)
	}
	text := regexp.MustCompile(`'\{(\w+)\}'`).ReplaceAllString(test.SQL.Query, "$1")
	return strings.TrimSuffix(strings.TrimSpace(text), ";"), nil
}

// runPlan compares the rows of a plan with those of its statement.
func (p *peers) runPlan(t *testing.T, path, statement string) (outcome, note string) {
	plan, err := os.ReadFile(path)
	require.NoError(t, err)
	theirs, err := p.theirs(statement)
	if err != nil {
		return "no statement", ""
	}
	query, err := substrait.Query(t.Context(), p.session, plan)
	if err != nil {
		var refused *substrait.Error
		if errors.As(err, &refused) {
			return "refused", err.Error()
		}
		text, _ := substrait.Statement(plan)
		return "refused by sql", err.Error() + "\n" + text
	}
	_, mine, err := collectText(t.Context(), query)
	if err != nil {
		return "failed", err.Error()
	}
	slices.SortFunc(mine, slices.Compare)
	slices.SortFunc(theirs, slices.Compare)
	if !slices.EqualFunc(mine, theirs, func(a, b []string) bool { return slices.EqualFunc(a, b, sameCell) }) {
		text, _ := substrait.Statement(plan)
		return "differs", fmt.Sprintf("%d rows %.300v\nDuckDB has %d rows %.300v\n%s\n%s", len(mine), mine, len(theirs), theirs, statement, text)
	}
	return "equal", ""
}

// sameCell compares texts, and numbers with the digits that a plan's type keeps.
func sameCell(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-6*max(1, math.Abs(x))
}
