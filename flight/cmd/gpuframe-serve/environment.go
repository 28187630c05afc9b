package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
)

// prefix begins the names of the variables of the environment.
const prefix = "GPUFRAME_SERVE_"

// serviceLink are the variables that Kubernetes gives the containers of a namespace with a Service called
// gpuframe-serve, or gpuframe-serve-NAME.
var serviceLink = regexp.MustCompile(`^` + prefix + `(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// variable returns the name of the variable of a flag: GPUFRAME_SERVE_LISTEN.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets the flags that the command line does not have from variables of the environment. A flag that may
// be repeated has a value in each line of its variable. A variable without a flag is an error, except those of
// Kubernetes: a misspelt limit would be none.
func fromEnvironment(set *pflag.FlagSet, environment []string) error {
	flags := map[string]*pflag.Flag{}
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" { // only a command line has them
			flags[variable(f.Name)] = f
		}
	})
	for _, each := range environment {
		name, value, _ := strings.Cut(each, "=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		f := flags[name]
		switch {
		case f == nil && serviceLink.MatchString(name):
			continue
		case f == nil:
			return fmt.Errorf("%s is no variable of a flag: see gpuframe-serve --help", name)
		case f.Changed:
			continue
		}
		values := []string{value}
		if f.Value.Type() == "stringArray" {
			values = strings.Split(value, "\n")
		}
		for _, value := range values {
			if value = strings.TrimSpace(value); value == "" {
				continue
			}
			if err := set.Set(f.Name, value); err != nil {
				return fmt.Errorf("%s: not a value of --%s: %w", name, f.Name, err)
			}
		}
	}
	return nil
}
