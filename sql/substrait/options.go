package substrait

import (
	"slices"
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
)

// behaviours are the choices of options that the engine has, in lower case. A call that allows none of them is refused.
var behaviours = map[string][]string{
	"overflow":            {"silent"}, // the value is null
	"case_sensitivity":    {"case_sensitive"},
	"rounding":            {"tie_away_from_zero", "tie_to_even"}, // of results, as IEEE has it; round has the first one
	"negative_start":      {"wrap_from_end"},
	"null_handling":       {"accept_nulls", "ignore_nulls"},
	"distribution":        {"sample", "population"},
	"on_domain_error":     {"nan", "null", "none"},
	"on_division_by_zero": {"limit", "nan"},
	"on_log_zero":         {"minus_infinity"},
	"nan_distinct":        {"nan_is_not_distinct"},
}

// choose returns the first choice of each option that the engine has.
func choose(path string, list []*substraitpb.FunctionOption) (map[string]string, error) {
	chosen := map[string]string{}
	for _, o := range list {
		name := strings.ToLower(o.GetName())
		i := slices.IndexFunc(o.GetPreference(), func(p string) bool { return slices.Contains(behaviours[name], strings.ToLower(p)) })
		if i < 0 {
			return nil, failed(path, "option %s with %s is not supported, only %s", o.GetName(), strings.Join(o.GetPreference(), " or "), listed(behaviours[name]))
		}
		chosen[name] = strings.ToLower(o.GetPreference()[i])
	}
	return chosen, nil
}

// listed is a list for a message.
func listed(list []string) string {
	if len(list) == 0 {
		return "calls without it"
	}
	return strings.ToUpper(strings.Join(list, " and "))
}
