package duckdb

import (
	"os"
	"regexp"
	"strconv"
	"strings"
)

// record is a record of a file in the format of sqllogictest: a statement, or a query with rows.
type record struct {
	text           string
	isQuery, fails bool
	// sorted is set if the file sorts the rows before it compares them.
	sorted bool
}

// readTestFile returns the records of a file with its loops written out, or the reason to leave it out.
func readTestFile(path string) (records []record, leftOut string) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err.Error()
	}
	lines := strings.Split(strings.ReplaceAll(string(content), "\r", ""), "\n")
	f := testFile{variables: map[string]string{}}
	f.read(lines)
	return f.records, f.leftOut
}

type testFile struct {
	records   []record
	leftOut   string
	variables map[string]string
}

// usual are the requirements that do not matter here.
var usual = map[string]bool{"noforcestorage": true, "skip_reload": true, "vector_size": true, "no_extension_autoloading": true, "parquet": true, "json": true, "core_functions": true, "no_alternative_verify": true, "notwindows": true, "notmusl": true, "64bit": true, "block_size": true, "strinline": true, "longdouble": true}

// read adds the records of lines.
func (f *testFile) read(lines []string) {
	skipping := false
	for i := 0; i < len(lines) && f.leftOut == "" && len(f.records) < 5000; i++ {
		words := strings.Fields(lines[i])
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "mode":
			skipping = words[1] == "skip"
		case "halt":
			return
		case "require", "require-env", "test-env", "load", "restart", "unzip", "concurrentloop", "concurrentforeach":
			if len(words) < 2 || words[0] != "require" || !usual[words[1]] {
				f.leftOut = strings.Join(words[:min(2, len(words))], " ")
			}
		case "onlyif", "skipif":
			for i < len(lines) && strings.TrimSpace(lines[i]) != "" {
				i++
			}
		case "loop", "foreach":
			end := endOfLoop(lines, i)
			for _, value := range valuesOfLoop(words) {
				f.variables[words[1]] = value
				f.read(lines[i+1 : end])
			}
			delete(f.variables, words[1])
			i = end
		case "statement", "query":
			r := record{isQuery: words[0] == "query", fails: len(words) > 1 && words[1] != "ok" && words[0] == "statement"}
			r.sorted = len(words) > 2 && (words[2] == "rowsort" || words[2] == "valuesort")
			var text []string
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != "" && strings.TrimSpace(lines[i]) != "----"; i++ {
				text = append(text, lines[i])
			}
			for i < len(lines) && strings.TrimSpace(lines[i]) != "" {
				i++
			}
			r.text = f.substituted(strings.TrimSuffix(strings.TrimSpace(strings.Join(text, "\n")), ";"))
			if !skipping {
				f.records = append(f.records, r)
			}
		}
	}
}

func (f *testFile) substituted(text string) string {
	for name, value := range f.variables {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	return text
}

// endOfLoop returns the line that ends the loop that starts at a line.
func endOfLoop(lines []string, start int) int {
	depth := 0
	for i := start; i < len(lines); i++ {
		switch word, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " "); word {
		case "loop", "foreach":
			depth++
		case "endloop":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(lines)
}

// typeSets are the names for several types in loops.
var typeSets = map[string]string{
	"<integral>": "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint", "<signed>": "tinyint smallint integer bigint hugeint", "<unsigned>": "utinyint usmallint uinteger ubigint",
	"<numeric>": "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint float double", "<alltypes>": "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint float double bool varchar",
}

// valuesOfLoop returns the values of the variable of a loop.
func valuesOfLoop(words []string) (values []string) {
	if words[0] == "foreach" {
		for _, word := range words[2:] {
			if set, ok := typeSets[word]; ok {
				values = append(values, strings.Fields(set)...)
				continue
			}
			values = append(values, word)
		}
		return values
	}
	from, _ := strconv.Atoi(words[2])
	to, _ := strconv.Atoi(words[3])
	for n := from; n < min(to, from+100); n++ {
		values = append(values, strconv.Itoa(n))
	}
	return values
}

var (
	firstWord = regexp.MustCompile(`(?is)^(?:\s|\(|--[^\n]*\n)*([a-z_]+)`)
	viewName  = regexp.MustCompile(`(?is)^create\s+(or\s+replace\s+)?(temp\w*\s+)?view\s`)
)

// wordOf returns the first word of a statement in lower case.
func wordOf(text string) string {
	if m := firstWord.FindStringSubmatch(text); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}
