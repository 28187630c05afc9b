package catalog

import "strings"

// A Verb is a verb of queries with further names: those of SQL and of other libraries, if they mean
// exactly the same. `make generate` writes the methods of gpuframe.Query with these names; pipelines of
// the command line read them.
type Verb struct {
	// Name is the name in query documents and on the command line.
	Name string
	// Go is the method of gpuframe.Query.
	Go string
	// Aliases are further names on the command line. That of two words has a space.
	Aliases []string
}

// verbs are the verbs with further names.
var verbs = []Verb{
	{Name: "filter", Go: "Filter", Aliases: []string{"where"}},
	{Name: "with", Go: "With", Aliases: []string{"with_columns"}},
	{Name: "group", Go: "GroupBy", Aliases: []string{"group by", "group_by"}},
	{Name: "sort", Go: "Sort", Aliases: []string{"order by", "order_by"}},
	{Name: "head", Go: "Head", Aliases: []string{"limit"}},
}

// Verbs returns the verbs that have further names. They are not to be changed.
func Verbs() []Verb { return verbs }

// VerbNamed returns the name of the verb with a name or an alias, which may be that of any verb, and
// reports whether the alias continues with a second word.
func VerbNamed(name, next string) (verb string, twoWords bool) {
	for _, v := range verbs {
		for _, alias := range v.Aliases {
			switch alias {
			case name + " " + next:
				return v.Name, true
			case name:
				return v.Name, false
			}
		}
	}
	return name, false
}

// GoAliases returns the further names of a verb in Go.
func (v Verb) GoAliases() []string {
	var names []string
	for _, alias := range v.Aliases {
		if name := camel(strings.ReplaceAll(alias, " ", "_")); name != v.Go && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	return names
}
