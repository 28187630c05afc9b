package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// prefix begins the names of the variables of the environment.
const prefix = "GPUFRAME_SERVE_"

// variable returns the name of the variable of a flag: GPUFRAME_SERVE_LISTEN.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that the command line does not have from variables of the environment. A flag that may
// be repeated has a value in each line of its variable. A variable without a flag is an error: a misspelt limit would
// be none.
func fromEnvironment(set *pflag.FlagSet, environment []string) error {
	flags := map[string]*pflag.Flag{}
	set.VisitAll(func(f *pflag.Flag) { flags[variable(f.Name)] = f })
	for _, each := range environment {
		name, value, _ := strings.Cut(each, "=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		f := flags[name]
		if f == nil {
			return fmt.Errorf("%s is no variable of a flag: see gpuframe-serve --help", name)
		}
		if f.Changed || value == "" {
			continue
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(strings.TrimSpace(value), "\n")
		}
		for _, value := range values {
			if err := set.Set(f.Name, strings.TrimSpace(value)); err != nil {
				return fmt.Errorf("%s: not a value of --%s: %w", name, f.Name, err)
			}
		}
	}
	return nil
}
