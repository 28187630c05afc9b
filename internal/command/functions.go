package command

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

func newFunctions() *cobra.Command {
	return &cobra.Command{
		Use:     "functions [NAME…]",
		Short:   "List the functions of expressions, or describe some",
		Example: "  gpuframe functions quantile local_time",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return pipeline.Functions(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			text := functionList()
			if len(arguments) > 0 {
				text = ""
			}
			for _, name := range arguments {
				functions := catalog.Named(name)
				if len(functions) == 0 {
					return errors.New(names.Meant("function", name, catalog.Meaning(name, pipeline.Functions()), pipeline.Functions()))
				}
				for _, f := range functions {
					text += description(f)
				}
			}
			_, err := fmt.Fprint(command.OutOrStdout(), text)
			return err
		},
	}
}

// functionList is the names of the functions by section, with their aliases. Columns and other parts
// of expressions, which have separate grammar, are left out.
func functionList() string {
	var text strings.Builder
	for _, s := range catalog.Sections() {
		var list []string
		for _, row := range s.Rows {
			for _, f := range row.Functions {
				if f.Kind != catalog.Form {
					list = append(list, f.Name+aliases(f))
				}
			}
		}
		if len(list) > 0 {
			text.WriteString(wrapped(s.Title+": "+strings.Join(list, ", ")) + "\n")
		}
	}
	return text.String()
}

// verbAliases is the list of the further names of verbs.
func verbAliases() string {
	var list []string
	for _, v := range catalog.Verbs() {
		list = append(list, fmt.Sprintf("%s for %s", v.Aliases[0], v.Name))
	}
	return strings.Join(list, ", ")
}

// wrapped breaks a text into indented lines.
func wrapped(text string) string {
	const width = 88
	line, lines := " ", []string{}
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width {
			line, lines = "   ", append(lines, line)
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}

// aliases are the further names of a function, in parentheses.
func aliases(f catalog.Function) string {
	if len(f.Aliases) == 0 {
		return ""
	}
	return " (" + strings.Join(f.Aliases, ", ") + ")"
}

// description describes a function: its call, its value, its operands and its result.
func description(f *catalog.Function) string {
	var parameters []string
	for _, p := range f.Parameters {
		name := p.Name
		if p.Type.Many() {
			name += "…"
		}
		if p.Optional {
			name = "[" + name + "]"
		}
		parameters = append(parameters, name)
	}
	lines := []string{f.Name + "(" + strings.Join(parameters, ", ") + ")" + aliases(*f)}
	if f.Doc != "" {
		lines = append(lines, wrapped(f.Name+inText(strings.TrimPrefix(f.Doc, f.Go))))
	}
	lines = append(lines, "  operands: "+inText(f.Operands), "  result: "+inText(f.Result), "  null: "+inText(f.Null))
	if f.Example != "" {
		lines = append(lines, "  example: "+f.Example)
	}
	return strings.Join(lines, "\n") + "\n"
}

// goNames match names of functions in comments: links, names in backticks, and words in camel case.
var goNames = regexp.MustCompile("\\[Expr\\.\\w+\\]|`\\w+`|\\b[A-Z]+[a-z]*[A-Z]\\w*")

// inText returns a comment with the names that functions have in pipelines.
func inText(comment string) string {
	return goNames.ReplaceAllStringFunc(comment, func(name string) string {
		name = strings.Trim(strings.TrimPrefix(name, "[Expr."), "]`")
		for _, f := range catalog.All() {
			if f.Go == name {
				return f.Name
			}
		}
		return name
	})
}
